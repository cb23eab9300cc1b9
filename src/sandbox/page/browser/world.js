import { control } from './api.js'
import { Avatar, Name } from './avatar.js'
import { Check } from './controls.js'
import { Faults } from './faults.js'
import { formatExactTime, formatFingerprint } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'

/** @typedef {import('./model.js').Model} Model */

const MINUTE_MS = 60_000
const STEPS = /** @type {const} */ ([
  ['1 minute', MINUTE_MS],
  ['1 hour', 60 * MINUTE_MS],
  ['1 day', 24 * 60 * MINUTE_MS],
  ['31 days', 31 * 24 * 60 * MINUTE_MS],
])
/** What the operator of the world can do. @param {{ model: Model }} props */
export function World({ model }) {
  return html`<div class="world">
    <h1>World</h1>
    <div class="cards">
      <${Bots} model=${model} />
      <${People} model=${model} />
      <${Clock} model=${model} />
      <${Faults} model=${model} />
      <${Snapshots} model=${model} />
    </div>
  </div>`
}

/** @param {{ model: Model }} props */
function Bots({ model }) {
  return html`<section class="panel wide" aria-labelledby="bots">
    <div class="panel-head">
      <h2 id="bots">Bots</h2>
      <button onClick=${() => model.ask({ kind: 'bot' })}><${Icon} name="plus" />New bot</button>
    </div>
    <ul class="accounts">
      ${model.state.bots.map((bot) => html`<${Bot} key=${bot.id} model=${model} bot=${bot} />`)}
    </ul>
  </section>`
}

/** @param {{ model: Model, bot: import('./state.js').Bot }} props */
function Bot({ model, bot }) {
  const { id: botId, name, username, status, mode, privacyMode, queued, webhook } = bot
  const token = model.state.tokens.get(botId)
  const isPaused = status === 'paused'
  return html`<li>
    <${Avatar} id=${botId} name=${name} icon="bot" />
    <div class="about">
      <p>
        <strong><${Name} text=${name} /></strong>
        <span class="note">@${username} · ${botId}</span>
      </p>
      <p class="facts">
        <span class=${`badge ${mode === 'protected' ? 'sealed' : 'readable'}`}>
          ${mode === 'protected' ? 'has a key' : 'has no key'}
        </span>
        ${isPaused && html`<span class="badge problem">paused</span>`}
        <span class="note">
          ${queued === 0 ? 'nothing waits' : `${queued} waiting`}
          ${webhook === null ? '' : html` · webhook <bdi>${webhook}</bdi>`}
        </span>
      </p>
      ${token !== undefined && html`<${Token} token=${token} />`}
      <${Check}
        checked=${privacyMode}
        onCheck=${(/** @type {boolean} */ isChecked) =>
          model.attempt(() => control.changeBot({ botId, privacyMode: isChecked }))}
        >privacy mode<//
      >
      <div class="actions">
        <button
          onClick=${() =>
            model.attempt(() => (isPaused ? control.resume({ botId }) : control.pause({ botId })))}
        >
          ${isPaused ? 'Resume' : 'Pause'}
        </button>
        <button
          onClick=${() =>
            model.attempt(async () => {
              model.showToken(botId, (await control.issueToken({ botId })).token)
            })}
        >
          Issue a new token
        </button>
        <button
          disabled=${mode !== 'protected'}
          onClick=${() => model.attempt(() => control.removeKey({ botId }))}
        >
          Remove its key
        </button>
      </div>
    </div>
  </li>`
}

/** @param {{ token: string }} props */
function Token({ token }) {
  const onFocus = (/** @type {any} */ { currentTarget }) => currentTarget.select()
  return html`<label class="token"
    >Token <input readonly value=${token} onFocus=${onFocus}
  /></label>`
}

/** @param {{ model: Model }} props */
function People({ model }) {
  return html`<section class="panel wide" aria-labelledby="people">
    <div class="panel-head">
      <h2 id="people">People</h2>
      <button onClick=${() => model.ask({ kind: 'person' })}>
        <${Icon} name="plus" />New person
      </button>
    </div>
    <ul class="accounts">
      ${model.state.people.map(
        ({ id: userId, firstName, username, fingerprint, gone }) =>
          html`<li key=${userId}>
            <${Avatar} id=${userId} name=${firstName} />
            <div class="about">
              <p>
                <strong><${Name} text=${firstName} /></strong>
                <span class="note">@${username} · ${userId}</span>
                ${gone && html`<span class="badge problem">closed the account</span>`}
              </p>
              <p class="fingerprint">
                ${fingerprint === null ? 'no key' : formatFingerprint(fingerprint)}
              </p>
              <div class="actions">
                <button
                  disabled=${gone}
                  onClick=${() => model.attempt(() => renewKey(model, { userId, firstName, fingerprint }))}
                >
                  New key
                </button>
                <button
                  disabled=${gone}
                  onClick=${() => model.attempt(() => control.closeAccount({ userId }))}
                >
                  Close the account
                </button>
              </div>
            </div>
          </li>`,
      )}
    </ul>
  </section>`
}

/**
 * Makes a new key for a person, and says what that means.
 * @param {Model} model
 * @param {{ userId: number, firstName: string, fingerprint: string | null }} person
 */
async function renewKey(model, { userId, firstName, fingerprint: before }) {
  const { fingerprint } = await control.newKey({ userId })
  const key = formatFingerprint(fingerprint).slice(-9)
  model.notify(
    before === null
      ? `${firstName} has a key now, ending in ${key}.`
      : `${firstName} has a new key, ending in ${key}; it ended in ${formatFingerprint(before).slice(-9)}. ` +
          'What was sealed to the old one still opens; bots are told with the next message.',
  )
}

/** @param {{ model: Model }} props */
function Clock({ model }) {
  const { mode } = model.state.clock
  const isStill = mode === 'still'
  return html`<section class="panel" aria-labelledby="clock">
    <h2 id="clock">Clock</h2>
    <p><time>${formatExactTime(model.nowMs)}</time>, ${isStill ? 'standing still' : 'running'}</p>
    <p class="note">
      Moves at once what is due on the way: retries, limits, what a seed has planned.
    </p>
    <div class="actions">
      ${STEPS.map(
        ([label, ms]) =>
          html`<button key=${ms} onClick=${() => model.attempt(() => control.advance({ ms }))}>
            + ${label}
          </button>`,
      )}
      <button
        onClick=${() => model.attempt(() => control.setClock({ mode: isStill ? 'running' : 'still' }))}
      >
        ${isStill ? 'Let it run' : 'Stop it'}
      </button>
    </div>
  </section>`
}

/** @param {{ model: Model }} props */
function Snapshots({ model }) {
  const { snapshots } = model.state
  return html`<section class="panel" aria-labelledby="snapshots">
    <h2 id="snapshots">Snapshots</h2>
    <p class="note">The whole world as it is now, to come back to.</p>
    ${
      snapshots.length > 0 &&
      html`<ul class="faults">
        ${snapshots.map(
          (name) =>
            html`<li key=${name}>
              <p>
                <strong><${Name} text=${name} /></strong>
              </p>
              <button onClick=${() => model.attempt(() => control.restore({ name }))}>
                Restore
              </button>
            </li>`,
        )}
      </ul>`
    }
    <div class="actions">
      <button onClick=${() => model.attempt(() => control.snapshot())}>Take a snapshot</button>
      <button onClick=${() => model.attempt(() => control.reset())}>Back to the start</button>
    </div>
  </section>`
}
