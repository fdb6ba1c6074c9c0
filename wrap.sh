#!/bin/bash
name=$(echo "$@" | grep -o 'crate-name [^ ]*' | cut -d' ' -f2)
TIMEFORMAT="$name $TAG real %R user %U sys %S"
{ time "$@" 2>&3 ; } 3>&2 2>>/tmp/w/wrap.log
