/** The request to read the settings again. main.ts makes it from a signal. */
import { Listeners } from '../util/listeners.ts'

const requests = new Listeners()

/** Calls back on each SIGHUP. A command that does not listen goes on as it is. */
export function onReload(listener: () => void): void {
  requests.add(listener)
}

/** Asks the command to read its settings again. For main.ts. */
export function requestReload(): void {
  requests.emit()
}
