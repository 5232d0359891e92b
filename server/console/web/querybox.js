// A field for a document such as a filter, with names that complete what is being written, and
// errors in place.
import { el, fill, say } from './lib.js';
import { parseDocument, TextError } from './relaxed.js';

const offered = 8; // names at a time

// The operators of filters.
const operators = [
  ...['$all', '$and', '$bitsAllSet', '$elemMatch', '$eq', '$exists', '$expr', '$gt', '$gte', '$in'],
  ...[
    '$lt',
    '$lte',
    '$mod',
    '$ne',
    '$nin',
    '$nor',
    '$not',
    '$options',
    '$or',
    '$regex',
    '$size',
    '$text',
  ],
  '$type',
];

// wordAt finds the name that is being written before a place of a text: only names of fields and
// operators are completed, and these follow a brace or a comma.
function wordAt(text, at) {
  const word = /[\p{L}\d_$.-]*$/u.exec(text.slice(0, at))[0],
    before = text
      .slice(0, at - word.length)
      .replace(/["']$/, '')
      .trimEnd();
  return before === '' || /[{,]$/.test(before) ? word : undefined;
}

let boxes = 0;

// queryBox makes a field. names lists the names of fields that it offers; extra has further
// properties of the input.
export function queryBox(label, names, extra = {}) {
  const id = `query-${++boxes}`,
    error = el('p', { class: 'small bad', role: 'alert', id: `${id}-error`, hidden: true }),
    list = el('ul', {
      class: 'hints',
      role: 'listbox',
      id: `${id}-hints`,
      'aria-label': `Names for ${label}`,
    }),
    input = el('input', {
      class: 'mono',
      role: 'combobox',
      spellcheck: 'false',
      autocomplete: 'off',
      autocapitalize: 'off',
      'aria-expanded': 'false',
      'aria-autocomplete': 'list',
      'aria-controls': `${id}-hints`,
      'aria-describedby': `${id}-error`,
      ...extra,
    });
  const hints = completion(input, list, names);
  const show = (message, at) => {
    error.textContent = message;
    error.hidden = !message;
    input.setAttribute('aria-invalid', String(Boolean(message)));
    if (at === undefined) return;
    input.focus();
    input.setSelectionRange(at, at + 1);
  };
  input.addEventListener('input', () => show(''));
  input.addEventListener('blur', hints.close);
  list.hidden = true;
  return {
    input,
    box: el('div', { class: 'query' }, el('label', {}, label, input), list, error),
    close: hints.close,
    fail: message => show(message),
    // read returns the document that is written, nothing if there is none; false: it is wrong.
    read() {
      show('');
      try {
        return input.value.trim() ? parseDocument(input.value) : undefined;
      } catch (e) {
        if (!(e instanceof TextError)) throw e;
        show(e.message, e.at);
        return false;
      }
    },
  };
}

// completion offers names below a field; arrows choose one, Enter or the tabulator takes it.
function completion(input, list, names) {
  let found = [],
    chosen = -1;
  const mark = () => {
    [...list.children].forEach((o, i) => o.setAttribute('aria-selected', String(i === chosen)));
    const at = list.children[chosen];
    if (at) input.setAttribute('aria-activedescendant', at.id);
    else input.removeAttribute('aria-activedescendant');
  };
  const draw = () => {
    list.hidden = !found.length;
    input.setAttribute('aria-expanded', String(found.length > 0));
    fill(
      list,
      found.map((name, i) =>
        el(
          'li',
          {
            role: 'option',
            id: `${list.id}-${i}`,
            onpointerdown: e => {
              e.preventDefault(); // the field keeps the focus
              take(i);
            },
          },
          name,
        ),
      ),
    );
    mark();
  };
  const close = () => {
    found = [];
    chosen = -1;
    draw();
  };
  const offer = all => {
    const word = wordAt(input.value, input.selectionStart),
      low = word?.toLowerCase();
    const known = [...new Set([...names(), ...operators])];
    found =
      word === undefined || (!word && !all)
        ? []
        : known.filter(n => n.toLowerCase().startsWith(low) && n !== word).slice(0, offered);
    chosen = -1;
    draw();
    say(found.length ? `${found.length} names, the arrows choose one` : '');
  };
  const take = i => {
    const at = input.selectionStart,
      word = wordAt(input.value, at) ?? '',
      before = input.value.slice(0, at - word.length),
      after = input.value.slice(at),
      bare = /^[\p{L}_$][\p{L}\d_$]*$/u.test(found[i]) || /["']$/.test(before),
      name = bare ? found[i] : `"${found[i]}"`,
      colon = /^\s*["']?\s*:/.test(after) || /["']$/.test(before) ? '' : ': ';
    input.value = before + name + colon + after;
    const to = (before + name + colon).length;
    input.setSelectionRange(to, to);
    close();
  };
  input.addEventListener('input', () => offer(false));
  input.addEventListener('keydown', e => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (e.key === ' ' && e.ctrlKey) offer(true);
    else if (step && found.length) {
      const from = chosen < 0 && step < 0 ? 0 : chosen;
      chosen = (from + step + found.length) % found.length;
      mark();
    } else if (e.key === 'Escape' && found.length) close();
    else if (['Enter', 'Tab'].includes(e.key) && chosen >= 0) take(chosen);
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  return { close };
}
