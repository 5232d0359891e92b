// Forms that show the command that they send.
import { el, run, button, mended } from './lib.js';
import { line } from './shell.js';
import { confirmed } from './check.js';

// commandForm makes a form on a database. fields are [label, input]; command makes the command
// of what they hold; policy, the policy that it sets, whose effects are asked before; done is
// called when it has succeeded.
export function commandForm({ db, fields, text, command, policy, done }) {
  const shown = el('code', { class: 'sends', 'aria-live': 'polite' }),
    draw = () => {
      shown.textContent = statement(typeof db === 'function' ? db() : db, command());
    };
  const changed = () => {
    draw();
    mended(form);
  };
  const form = el(
    'form',
    { class: 'command', onsubmit: e => e.preventDefault(), oninput: changed, onchange: changed },
    el(
      'div',
      { class: 'row inputs' },
      fields.map(([label, input]) => el('label', { hidden: input.hidden }, label, input)),
      button(
        text,
        async () => {
          if (!form.reportValidity()) return;
          const on = typeof db === 'function' ? db() : db,
            c = command(),
            sets = policy?.();
          const send = async () => done(on, await run(on, c));
          await (sets ? confirmed(on, sets, text, send) : send());
        },
        { type: 'submit' },
      ),
    ),
    shown,
  );
  draw();
  return form;
}

// statement is a command as mongosh would run it.
export const statement = (db, command) =>
  `db.getSiblingDB(${JSON.stringify(db)}).runCommand(${line(command)})`;

export const secondsInput = value =>
  el('input', { type: 'number', min: 0, required: true, value: value ?? 3600 });
export const nameInput = (value, placeholder) =>
  el('input', { value: value ?? '', placeholder, required: true, spellcheck: 'false' });
export const choice = (options, now) =>
  el(
    'select',
    {},
    options.map(([v, t]) => el('option', { value: v, selected: v === now }, t)),
  );
