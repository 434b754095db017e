// Does what a reader does, and leaves what came of it in the title of a test-only copy of the page.
// All of it is over when the page has loaded, which pictures that are added until then put off.
(() => {
const wrong = [];
const check = (true_, what) => { if (!true_) wrong.push(what); };
const one = (selector, inside = document) => inside.querySelector(selector);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const ascends = (values) => values.every((value, at) => at === 0 || values[at - 1] <= value);
try {
  check(!one('#tools').hidden, 'the tools are hidden');

  // Sorting: by a time with its unit, by a name, and what was not measured last.
  const table = one('table[aria-label^="Percentiles of single wait"]');
  const rows = () => [...table.tBodies[0].rows];
  const times = () => rows().map((row) => Number(row.cells[5].dataset.sort));
  const head = table.tHead.rows[0].cells[5];
  check(head.getAttribute('aria-sort') === 'none', 'a heading says that it is sorted already');
  check(one('button', head).tabIndex === 0, 'a heading cannot be reached by keyboard');
  check(!ascends(times()), 'the sample is sorted by its 99 % already');
  one('button', head).click();
  check(ascends(times()), `not ascending: ${times()}`);
  check(head.getAttribute('aria-sort') === 'ascending', 'aria-sort is not ascending');
  one('button', head).click();
  check(ascends(times().reverse()), `not descending: ${times()}`);
  check(head.getAttribute('aria-sort') === 'descending', 'aria-sort is not descending');
  one('button', table.tHead.rows[0].cells[0]).click();
  check(ascends(rows().map((row) => row.dataset.lock)), 'not by name');
  check(head.getAttribute('aria-sort') === 'none', 'two headings say that they are sorted by');
  check(one('#said').textContent.includes('sorted by lock'), 'that it is sorted is not said');
  const costs = one('#costs table');
  const count = costs.rows.length;
  const last = () => all('tbody', costs).flatMap((body) => [...body.rows].at(-1).cells[1].textContent);
  for (const _ of [1, 2]) {
    one('button', costs.tHead.rows[0].cells[1]).click();
    check(last().includes('refused'), `what was refused is not last: ${last()}`);
  }
  check(costs.rows.length === count, 'rows are lost');

  // Values under the pointer and the arrow keys.
  const drawing = all('#fig-throughput-throughput-empty-section-nothing-outside .drawing')[0];
  const svg = all('svg', drawing).find((svg) => svg.getClientRects().length);
  svg.scrollIntoView();
  const layer = one('[data-lock="std"][data-at]', svg);
  const [x, y] = layer.dataset.at.split(' ')[0].split(',').map(Number);
  const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  svg.dispatchEvent(new PointerEvent('pointermove',
    { bubbles: true, clientX: at.x, clientY: at.y }));
  const tip = one('#tip');
  check(!tip.hidden && tip.textContent.includes('std'), `pointed at: ${tip.textContent}`);
  check(/M\/s at 1 thread \(quartiles .* to .*\)/.test(tip.textContent), tip.textContent);
  drawing.focus();
  check(document.activeElement === drawing, 'a drawing cannot be reached by keyboard');
  const press = (key) => drawing.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  press('ArrowRight');
  const second = tip.textContent;
  check(second.includes('at 2 threads'), `one to the right: ${second}`);
  check(one('#said').textContent.includes('at 2 threads'), 'the value is not said');
  press('ArrowDown');
  check(!tip.textContent.includes('std'), `one down: ${tip.textContent}`);
  press('Escape');
  check(tip.hidden, 'Escape leaves the value there');

  // Choosing locks: faded, hidden, and back.
  const shade = (lock) => getComputedStyle(one(`[data-lock="${lock}"]`, svg));
  const pick = (lock) => one(`.chip[data-lock="${lock}"]`).click();
  const bars = one('#fig-uncontended-pair-process-multi-threaded svg');
  const height = bars.getAttribute('viewBox');
  one('#chooser').open = true;
  pick('std');
  check(one('.chip[data-lock="std"]').getAttribute('aria-pressed') === 'true', 'not pressed');
  check(Number(shade('std').opacity) === 1, 'the chosen lock is faded');
  check(Number(shade('glibc').opacity) < 0.5, 'another lock is not faded');
  check(one('#chosen').textContent === '1 of 13', one('#chosen').textContent);
  one('[name=others][value=hidden]').click();
  check(shade('glibc').visibility === 'hidden', 'another lock is not hidden');
  check(shade('std').visibility === 'visible', 'the chosen lock is hidden');
  check(getComputedStyle(one('tr[data-lock="glibc"]')).display === 'none', 'its row is there');
  const less = bars.getAttribute('viewBox');
  check(Number(less.split(' ')[3]) < Number(height.split(' ')[3]), 'hidden rows leave gaps');

  // Saving, of what is seen: every figure, alone.
  const blobs = [];
  const names = [];
  window.Blob = class { constructor([text], { type }) { Object.assign(this, { text, type }); } };
  URL.createObjectURL = (blob) => { blobs.push(blob); return 'data:,'; };
  HTMLAnchorElement.prototype.click = function click() { names.push(this.download); };
  for (const figure of all('figure')) one('.save', figure).click();
  check(blobs.length === all('figure').length, `${blobs.length} files`);
  check(new Set(names).size === names.length, 'two files have one name');
  check(names.every((name) => /^ondeck-[a-z0-9-]+\.svg$/.test(name)), `${names}`);
  for (const [index, { text, type }] of blobs.entries()) {
    const name = names[index];
    check(type === 'image/svg+xml', `${name} is ${type}`);
    const file = new DOMParser().parseFromString(text, 'image/svg+xml');
    check(!one('parsererror', file), `${name} is no XML: ${text.slice(0, 200)}`);
    for (const word of ['var(', 'class=', 'data-', 'NaN', 'light-dark']) {
      check(!text.includes(word), `${name} has ${word}`);
    }
    const drawn = all('polyline, path, rect, polygon, text', file);
    check(drawn.length > 10, `${name} is empty`);
    for (const shape of drawn) {
      const seen = shape.getAttribute(shape.localName === 'polyline' ? 'stroke' : 'fill');
      if (!seen?.startsWith('rgb')) { check(false, `${name}: no colour in ${shape.outerHTML}`); break; }
    }
    check(!all('text', file).some((text) => text.textContent === 'glibc'), `${name} shows what is hidden`);
    check(all('text', file).some((text) => text.textContent.includes('ondeck')), `${name} has no origin`);
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
    image.onerror = () => check(false, `${name} cannot be drawn`);
    image.onload = () => {
      check(image.naturalWidth > 300 && image.naturalHeight > 100, `${name} has no size`);
    };
    document.body.append(image);
  }
  one('#clear').click();
  check(bars.getAttribute('viewBox') === height, 'rows do not come back');
  check(shade('glibc').visibility === 'visible', 'locks do not come back');

  // The theme.
  const paper = (theme) => {
    one('#theme').value = theme;
    one('#theme').dispatchEvent(new Event('change'));
    return getComputedStyle(document.body).backgroundColor;
  };
  const [light, dark] = [paper('light'), paper('dark')];
  check(light === 'rgb(255, 255, 255)' && dark !== light, `light ${light}, dark ${dark}`);
  check(paper('') === light, 'the theme of the system does not come back');
} catch (error) {
  wrong.push(`the script failed: ${error.stack}`);
}
window.addEventListener('load', () => {
  const fetched = performance.getEntriesByType('resource').map((entry) => entry.name)
    .filter((name) => !name.startsWith('data:'));
  document.title = JSON.stringify({ wrong, fetched });
});
})();
