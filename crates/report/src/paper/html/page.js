// Comfort only: the page is complete without it. Adds a filter to the summary table and switches to the figures (hide a
// curve, spread the values the other way, tell the points in words), opens the appendix or what a link points into, and opens before printing what is
// folded, but for the appendix.
(function () {
  "use strict";
  var table = document.querySelector("table.searched");
  if (table) {
    var label = document.createElement("label");
    var input = document.createElement("input");
    var status = document.createElement("span");
    label.className = "tools";
    label.textContent = "Show only rows with: ";
    input.type = "search";
    status.setAttribute("role", "status");
    label.append(input, " ", status);
    table.parentNode.before(label);
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var shown = 0;
      table.querySelectorAll("tbody").forEach(function (body) {
        var group = body.rows[0].textContent.toLowerCase();
        var any = false;
        Array.prototype.slice.call(body.rows, 1).forEach(function (row) {
          var text = group + " " + row.textContent.toLowerCase();
          row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
          if (!row.hidden) { any = true; shown += 1; }
        });
        body.hidden = !any;
      });
      status.textContent = words.length ? shown + " rows" : "";
    });
  }
  function button(text, pressed, act) {
    var made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-pressed", pressed);
    made.addEventListener("click", function () {
      var now = made.getAttribute("aria-pressed") !== "true";
      made.setAttribute("aria-pressed", now);
      act(now);
    });
    return made;
  }
  document.querySelectorAll("figure").forEach(function (figure) {
    var switches = document.createElement("p");
    var other = figure.querySelector(".otherwise");
    var curves = figure.querySelectorAll("svg .curve");
    // The first drawing's: the other one has the same marks elsewhere.
    var marks = figure.querySelector("svg").querySelectorAll("g > title");
    var names = [];
    switches.className = "tools switches";
    if (other) {
      var first = figure.querySelector("svg");
      var spread = other.dataset.first === "linear" ? "logarithmic" : "linear";
      switches.append(button(spread + " axis", "false", function (on) {
        other.hidden = !on;
        first.toggleAttribute("hidden", on);
      }));
    }
    curves.forEach(function (curve) {
      if (names.indexOf(curve.dataset.name) < 0) { names.push(curve.dataset.name); }
    });
    if (names.length > 1) {
      names.forEach(function (name) {
        var made = button(name, "true", function (on) {
          curves.forEach(function (curve) {
            if (curve.dataset.name === name) { curve.toggleAttribute("hidden", !on); }
          });
        });
        made.setAttribute("aria-label", "curve " + name);
        switches.append(made);
      });
    }
    if (marks.length) {
      var list = document.createElement("ul");
      list.hidden = true;
      marks.forEach(function (mark) {
        var item = document.createElement("li");
        item.textContent = mark.textContent;
        list.append(item);
      });
      switches.append(button("points in words", "false", function (on) { list.hidden = !on; }));
      figure.append(list);
    }
    if (switches.childElementCount) { figure.querySelector("figcaption").before(switches); }
  });
  var appendix = document.getElementById("appendix");
  if (appendix) {
    var all = document.createElement("span");
    all.className = "tools switches";
    all.append(button("open the appendix", "false", function (on) {
      document.querySelectorAll("details.long").forEach(function (folded) { folded.open = on; });
    }));
    appendix.append(" ", all);
  }
  function reveal() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (var node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") { node.open = true; }
    }
    if (target) { target.scrollIntoView(); }
  }
  window.addEventListener("hashchange", reveal);
  reveal();
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details:not(.long)").forEach(function (folded) { folded.open = true; });
  });
}());
