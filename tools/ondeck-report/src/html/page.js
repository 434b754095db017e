// Sorting, choosing locks, values under pointer and keys, saving figures, the theme. The page is
// whole without this; nothing here fetches anything.
(() => {
'use strict';
const one = (selector, inside = document) => inside.querySelector(selector);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const tip = one('#tip');
const say = (text) => { one('#said').textContent = text; };
const button = (text, name, label) => {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = name;
  made.textContent = text;
  if (label) made.setAttribute('aria-label', label);
  return made;
};

// The theme.
one('#theme').addEventListener('change', (event) => {
  document.documentElement.dataset.theme = event.target.value;
});

// Tables: a click on a heading sorts, another one turns the order around.
const heads = (table) => all('thead tr:last-child > *', table);
for (const table of all('table')) {
  for (const head of heads(table)) {
    const sorter = button(head.textContent, 'sorter');
    head.replaceChildren(sorter);
    head.setAttribute('aria-sort', 'none');
  }
}
const number = (cell) => {
  if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
  // The first text is the number; its spread stands in an element of its own.
  return Number.parseFloat((cell.firstChild?.nodeValue ?? '').replace(/[^0-9.e+-]/g, ''));
};
const key = (cell) => {
  if (!cell) return NaN;
  return cell.classList.contains('number') ? number(cell) : cell.textContent.trim().toLowerCase();
};
const compare = (a, b) => {
  const missing = (value) => Number.isNaN(value) || value === '';
  // What was not measured comes last, whichever way.
  if (missing(a) || missing(b)) return { last: missing(a) - missing(b) };
  return { order: typeof a === 'number' ? a - b : a.localeCompare(b) };
};
const sort = (head) => {
  const table = head.closest('table');
  const column = head.cellIndex;
  const turned = head.getAttribute('aria-sort') === 'ascending';
  for (const other of heads(table)) other.setAttribute('aria-sort', 'none');
  head.setAttribute('aria-sort', turned ? 'descending' : 'ascending');
  for (const body of table.tBodies) {
    const heading = [...body.rows].filter((row) => row.cells.length === 1);
    const rows = [...body.rows].filter((row) => row.cells.length > 1)
      .map((row) => [key(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      const { last, order } = compare(a, b);
      return last ?? (turned ? -order : order);
    });
    body.append(...heading, ...rows.map(([, row]) => row));
  }
  say(`sorted by ${head.textContent}, ${head.getAttribute('aria-sort')}`);
};

// The chooser: a style sheet of its own, so that no page is too long for it.
const picked = new Set();
const sheet = document.head.appendChild(document.createElement('style'));
const hides = () => one('[name=others]:checked').value === 'hidden';
const quoted = (lock) => `[data-lock="${CSS.escape(lock)}"]`;
const bringOut = (locks, hide) => {
  if (locks.length === 0) { sheet.textContent = ''; return; }
  const those = locks.map(quoted).join();
  const drawn = `svg [data-lock]:not(${those})`;
  const rows = `tr[data-lock]:not(${those})`;
  sheet.textContent = `:is(${those}){--quiet:initial;--thin:initial}` + (hide
    ? `${drawn}{visibility:hidden}${rows}{display:none}`
    : `${drawn}{opacity:.13}${rows}{opacity:.3}`);
};
// Where each lock has a row of its own, what is hidden leaves no gap.
const closeGaps = (svg, hide) => {
  const step = Number(svg.dataset.step);
  let gone = 0;
  for (const row of all('[data-row]', svg)) {
    if (gone) row.setAttribute('transform', `translate(0 ${-gone * step})`);
    else row.removeAttribute('transform');
    if (hide && row.dataset.lock !== undefined && !picked.has(row.dataset.lock)) gone += 1;
  }
  one('.foot', svg).setAttribute('transform', `translate(0 ${-gone * step})`);
  const [left, top, width, height] = svg.getAttribute('viewBox').split(' ').map(Number);
  svg.dataset.height ??= height;
  svg.setAttribute('viewBox', [left, top, width, svg.dataset.height - gone * step].join(' '));
  for (const line of all('.grid polyline', svg)) {
    line.dataset.points ??= line.getAttribute('points');
    const [from, to] = line.dataset.points.split(' ').map((point) => point.split(',').map(Number));
    line.setAttribute('points', `${from} ${to[0]},${to[1] - gone * step}`);
  }
};
let gaps = false;
const choose = () => {
  const names = all('.chip').map((chip) => chip.dataset.lock);
  for (const chip of all('.chip')) chip.setAttribute('aria-pressed', picked.has(chip.dataset.lock));
  const hide = hides() && picked.size > 0;
  bringOut([...picked], hide);
  if (hide || gaps) for (const svg of all('svg[data-step]')) closeGaps(svg, hide);
  gaps = hide;
  one('#chosen').textContent = picked.size ? `${picked.size} of ${names.length}` : `all ${names.length}`;
  point(null);
};
const preview = (event) => {
  const chip = event.target.closest?.('.chip');
  if (chip && !picked.size) bringOut([chip.dataset.lock], false);
};
const chips = one('.chips');
chips.addEventListener('pointerover', preview);
chips.addEventListener('focusin', preview);
const restore = () => bringOut([...picked], hides());
chips.addEventListener('pointerleave', restore);
chips.addEventListener('focusout', restore);
for (const radio of all('[name=others]')) radio.addEventListener('change', choose);

// Values: the nearest one under the pointer; arrow keys go from one to the next.
const spots = new WeakMap();
const spotsOf = (svg) => {
  if (!spots.has(svg)) {
    spots.set(svg, all('[data-at]', svg).map((layer) => {
      const values = layer.dataset.values.split('\n');
      return layer.dataset.at.split(' ').map((at, index) => {
        const [x, y] = at.split(',').map(Number);
        return { layer, x, y, value: values[index] };
      });
    }));
  }
  return spots.get(svg)
    .filter(([{ layer }]) => getComputedStyle(layer).visibility === 'visible');
};
const lift = (layer) => layer.transform.baseVal.consolidate()?.matrix.f ?? 0;
let shown = null;
function point(spot) {
  if (shown) {
    shown.ring.remove();
    for (const layer of all('.hot', shown.svg)) layer.classList.remove('hot');
    shown.svg.classList.remove('pointing');
  }
  shown = null;
  tip.hidden = true;
  if (!spot) return;
  const { layer, x, y, value } = spot;
  const svg = layer.ownerSVGElement;
  const ring = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
  ring.setAttribute('class', 'ring');
  ring.setAttribute('cx', x);
  ring.setAttribute('cy', y + lift(layer));
  ring.setAttribute('r', 8);
  svg.append(ring);
  const name = layer.dataset.lock ?? layer.dataset.name;
  if (!svg.dataset.step) {
    svg.classList.add('pointing');
    for (const other of all('[data-lock]', svg)) {
      other.classList.toggle('hot', other.dataset.lock === name);
    }
  }
  const strong = document.createElement('strong');
  strong.textContent = name;
  tip.replaceChildren(strong, document.createElement('br'), value);
  tip.hidden = false;
  const at = ring.getBoundingClientRect();
  const room = document.documentElement.clientWidth - tip.offsetWidth - 4;
  const left = Math.max(4, Math.min(room, at.left + at.width / 2 - tip.offsetWidth / 2));
  const above = at.top - tip.offsetHeight - 6;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(above > 0 ? above : at.bottom + 6) + scrollY}px`;
  shown = { spot, svg, ring };
}
const nearest = (svg, event) => {
  const matrix = svg.getScreenCTM();
  if (!matrix) return null;
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  let [best, least] = [null, 40];
  for (const spot of spotsOf(svg).flat()) {
    const down = Math.abs(spot.y + lift(spot.layer) - y);
    // A row is pointed at anywhere along it.
    const across = Math.abs(spot.x - x) * (svg.dataset.step ? 0.02 : 1);
    const far = Math.hypot(across, down);
    if (far < least) [best, least] = [spot, far];
  }
  return best;
};
const follow = (event) => {
  const svg = event.target.closest?.('.drawing svg');
  const spot = svg ? nearest(svg, event) : null;
  if (spot !== shown?.spot) point(spot);
};
document.addEventListener('pointermove', follow);
document.addEventListener('pointerdown', follow);
const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const walk = (event) => {
  const drawing = event.target.closest?.('.drawing');
  if (!drawing) return;
  if (event.key === 'Escape') point(null);
  const svg = all('svg', drawing).find((svg) => svg.getClientRects().length);
  const lines = svg ? spotsOf(svg) : [];
  if (!(event.key in STEPS) || !lines.length) return;
  event.preventDefault();
  const [down, along] = STEPS[event.key];
  let line = lines.findIndex((spots) => spots.includes(shown?.spot));
  let place = line < 0 ? 0 : lines[line].indexOf(shown.spot);
  if (line < 0) line = 0;
  else {
    line = (line + down + lines.length) % lines.length;
    place = Math.min(Math.max(place + along, 0), lines[line].length - 1);
  }
  point(lines[line][place]);
  say(tip.innerText.replace('\n', ': '));
};
document.addEventListener('keydown', walk);
document.addEventListener('focusout', () => point(null));

// Saving a figure: what the style sheet says is written into it, with title and origin.
const WRITTEN = ['fill', 'stroke', 'stroke-dasharray', 'opacity'];
const standalone = (figure) => {
  point(null);
  const source = one('.wide svg', figure) ?? one('svg', figure);
  const copy = source.cloneNode(true);
  const originals = all('*', source);
  for (const [index, element] of all('*', copy).entries()) {
    const style = getComputedStyle(originals[index]);
    if (element.localName !== 'g') {
      for (const name of WRITTEN) {
        const value = style.getPropertyValue(name);
        if (!(name === 'opacity' ? value === '1' : value === 'none' && name !== 'fill')) {
          element.setAttribute(name, value);
        }
      }
      if (element.hasAttribute('stroke-width')) {
        element.setAttribute('stroke-width', style.strokeWidth);
      }
    } else if (style.opacity !== '1') element.setAttribute('opacity', style.opacity);
    if (style.visibility === 'hidden') element.dataset.gone = '';
  }
  for (const gone of all('[data-gone]', copy)) gone.remove();
  for (const element of [copy, ...all('*', copy)]) {
    for (const { name } of [...element.attributes]) {
      if (name === 'class' || name.startsWith('data-')) element.removeAttribute(name);
    }
  }
  const page = getComputedStyle(document.body);
  const muted = getComputedStyle(one('#origin')).color;
  const [, , width, height] = copy.getAttribute('viewBox').split(' ').map(Number);
  const make = (name, attributes, text = '') => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    return made;
  };
  const lines = (text, size) => {
    const most = Math.floor((width - 4) / (size * 0.56));
    return text.split(' ').reduce((lines, word) => {
      const last = lines.at(-1);
      if (last !== undefined && last.length + word.length < most) lines.push(`${lines.pop()} ${word}`);
      else lines.push(word);
      return lines;
    }, []);
  };
  const title = lines(one('figcaption strong', figure).textContent, 15);
  const origin = lines(one('#origin').textContent, 10.5);
  const above = title.length * 20 + 14;
  const body = make('g', { transform: `translate(0 ${above})` });
  body.append(...copy.childNodes);
  const total = above + height + origin.length * 14 + 8;
  copy.append(make('title', {}, title.join(' ')),
    make('rect', { x: -12, y: -8, width: width + 24, height: total + 16, fill: page.backgroundColor }),
    ...title.map((text, index) => make('text',
      { x: 2, y: 18 + index * 20, fill: page.color, 'font-size': 15, 'font-weight': 600 }, text)),
    body,
    ...origin.map((text, index) => make('text',
      { x: 2, y: above + height + 12 + index * 14, fill: muted, 'font-size': 10.5 }, text)));
  copy.setAttribute('viewBox', `-12 -8 ${width + 24} ${total + 16}`);
  copy.setAttribute('width', width + 24);
  copy.setAttribute('height', total + 16);
  copy.setAttribute('font-family', 'system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif');
  return new XMLSerializer().serializeToString(copy);
};
const save = (figure) => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([standalone(figure)], { type: 'image/svg+xml' }));
  link.download = `${figure.id.replace(/^fig-/, 'ondeck-')}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  say(`saved ${link.download}`);
};
for (const figure of all('figure')) {
  const title = one('figcaption strong', figure).textContent;
  one('figcaption', figure).append(button('Save SVG', 'save', `Save as SVG: ${title}`));
  const drawing = one('.drawing', figure);
  drawing.tabIndex = 0;
  drawing.setAttribute('aria-description', 'Arrow keys go from value to value.');
}

document.addEventListener('click', (event) => {
  const pressed = event.target.closest?.('button');
  if (!pressed) return;
  const lock = pressed.dataset.lock;
  if (pressed.classList.contains('sorter')) sort(pressed.parentElement);
  else if (pressed.classList.contains('save')) save(pressed.closest('figure'));
  else if (pressed.classList.contains('chip')) {
    if (!picked.delete(lock)) picked.add(lock);
    choose();
  } else if (pressed.id === 'clear') { picked.clear(); choose(); }
  else if (pressed.id === 'invert') {
    for (const { dataset } of all('.chip')) if (!picked.delete(dataset.lock)) picked.add(dataset.lock);
    choose();
  }
});
one('#tools').hidden = false;
})();
