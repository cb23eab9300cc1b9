/** Words, verdicts and JSON, as every column shows them. */
import { formatJson } from './format.js'
import { html } from './html.js'
import { Icon } from './icons.js'

/** Somebody's words, as they are. @param {{ text: string }} props */
export function Words({ text }) {
  return text === '' ? null : html`<p class="words" dir="auto">${text}</p>`
}

/** @param {{ verdicts: Record<string, [string, string]>, verdict: string, reason?: string, isOwn?: boolean }} props */
export function Verdict({ verdicts, verdict, reason, isOwn = false }) {
  const [tone, words] = verdicts[verdict] ?? ['bad', verdict]
  // What one wrote oneself needs no proof.
  if (isOwn && tone === 'good') return html`<span></span>`
  return html`<p>
    <span class=${`verdict ${tone}`}>
      ${tone === 'good' && html`<${Icon} name="check" />`}${words}${
        reason !== undefined && html`<span class="reason">${reason}</span>`
      }
    </span>
  </p>`
}

/** @param {{ label: string, value: unknown }} props */
export function Raw({ label, value }) {
  return html`<details class="raw">
    <summary>${label}</summary>
    <pre tabindex="0">${formatJson(value)}</pre>
  </details>`
}
