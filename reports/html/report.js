/* SPDX-License-Identifier: Apache-2.0 */
(function () {
  "use strict";
  document.documentElement.classList.add("js");
  function each(selector, f) { Array.prototype.forEach.call(document.querySelectorAll(selector), f); }
  each(".cmd button", function (button) {
    button.addEventListener("click", function () {
      var code = button.parentNode.querySelector("code"), range = document.createRange();
      function said(word) { button.textContent = word; setTimeout(function () { button.textContent = "copy"; }, 1500); }
      function select() { range.selectNodeContents(code); var s = getSelection(); s.removeAllRanges(); s.addRange(range); said("selected"); }
      if (navigator.clipboard) { navigator.clipboard.writeText(code.textContent).then(function () { said("copied"); }, select); } else { select(); }
    });
  });
  each(".slider + input", function (input) {
    var box = input.previousElementSibling, over = box.querySelectorAll("img")[1];
    function move() { over.style.clipPath = "inset(0 0 0 " + input.value + "%)"; box.style.setProperty("--at", input.value + "%"); }
    input.addEventListener("input", move);
    move();
  });
  var filter = document.getElementById("filter");
  if (filter) {
    filter.addEventListener("input", function () {
      var words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      each("table.matrix tbody tr[data-case]", function (row) {
        var text = row.getAttribute("data-case").toLowerCase();
        row.hidden = !words.every(function (w) { return text.indexOf(w) !== -1; });
      });
      if (words.length) { each("details.level", function (d) { d.open = true; }); }
    });
  }
  /* Tables sort by a click on a column's head: numbers with their units by size, the rest by text; cells that are not there stay last. */
  var sizes = { p: 1e-12, n: 1e-9, u: 1e-6, "\u00b5": 1e-6, m: 1e-3, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12 };
  function sizeOf(text) {
    var m = /^[^\d\-+.]*([\-+]?[\d.]+(?:e[\-+]?\d+)?)\s*(?:([pnu\u00b5mkKMGT])[A-Za-z\/])?/.exec(text);
    return m ? parseFloat(m[1]) * (sizes[m[2]] || 1) : NaN;
  }
  function sortBy(table, column, head) {
    var up = head.getAttribute("aria-sort") === "descending", body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row) {
      var cell = row.cells[column], text = cell ? cell.getAttribute("data-sort") || cell.textContent.trim() : "";
      return { row: row, text: text, number: head.classList.contains("r") ? sizeOf(text) : NaN, absent: !text };
    });
    rows.sort(function (a, b) {
      if (a.absent || b.absent) { return a.absent - b.absent; }
      var d = isNaN(a.number) || isNaN(b.number) ? b.text.localeCompare(a.text, undefined, { numeric: true }) : b.number - a.number;
      return up ? -d : d;
    });
    Array.prototype.forEach.call(table.querySelectorAll("[aria-sort]"), function (h) { h.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.forEach(function (r) { body.appendChild(r.row); });
  }
  each(".scroll > table:not(.matrix):not(.side):not(.heat) > thead", function (thead) {
    var table = thead.parentNode;
    if (thead.rows.length !== 1 || !(table.tBodies[0].rows.length > 1) || table.querySelector("tbody [rowspan]")) { return; }
    Array.prototype.forEach.call(thead.rows[0].cells, function (head, column) {
      if (!head.textContent.trim()) { return; }
      var button = document.createElement("button");
      button.type = "button";
      while (head.firstChild) { button.appendChild(head.firstChild); }
      head.appendChild(button);
      head.classList.add("sorts");
      button.addEventListener("click", function () { sortBy(table, column, head); });
    });
  });
  /* A click on a figure puts its link into the address; a link opens what it is folded into. */
  each("td[id]", function (cell) {
    cell.addEventListener("click", function (e) { if (!e.target.closest("a, button, summary")) { history.replaceState(null, "", "#" + cell.id); mark(); } });
  });
  function mark() {
    var at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    each(".sent", function (e) { e.classList.remove("sent"); });
    if (!at) { return null; }
    at.classList.add("sent");
    for (var up = at; up; up = up.parentNode) { if (up.tagName === "DETAILS") { up.open = true; } }
    return at;
  }
  function go() { var at = mark(); if (at) { at.scrollIntoView({ block: "center" }); } }
  addEventListener("hashchange", go);
  if (location.hash) { go(); }
  var closed = [];
  addEventListener("beforeprint", function () { each("details:not([open]):not(.bulk)", function (d) { d.open = true; closed.push(d); }); });
  addEventListener("afterprint", function () { closed.forEach(function (d) { d.open = false; }); closed = []; });
}());
