/** What the tests of the page begin with, and what they do on it: find a message, write one. */
import { afterAll, beforeAll } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { TestBrowser, type PageLook, type Tab } from './browser.ts'
import { startPageStage, type PageStage } from './page-stage.ts'

/** A sandbox with its page and an echo bot, from `beforeAll` to `afterAll`. */
export interface PageUse extends PageStage {
  /** Opens the page, or a place of it such as `#/world`, in a tab of its own. */
  open(place?: string, look?: PageLook): Promise<Tab>
}

/** Starts it for the tests of a `describe`. */
export function usePage(): PageUse {
  const parts = new AsyncDisposableStack()
  const use = {} as PageUse
  beforeAll(async () => {
    const stage = parts.use(await startPageStage())
    stage.echo()
    const browser = parts.use(await TestBrowser.start())
    const open = (place = '', look?: PageLook) => browser.open(`${stage.url}/${place}`, look)
    Object.assign(use, stage, { open })
  })
  afterAll(() => parts.disposeAsync())
  return use
}

export const composer = (page: Page): Locator => page.getByRole('textbox', { name: /^Write as/ })

/** The rows in which the person reads these words. */
export const rowOf = (page: Page, words: string): Locator =>
  page.locator('.row').filter({ has: page.locator('.person-cell .words', { hasText: words }) })

/** Presses keys one after the other, which blanks separate. */
export async function press(page: Page, keys: string): Promise<void> {
  for (const key of keys.split(' ')) await page.keyboard.press(key)
}

/** Writes as a person does, and waits for the row. */
export async function write(page: Page, words: string): Promise<void> {
  await composer(page).fill(words)
  await composer(page).press('Enter')
  await rowOf(page, words).first().waitFor()
}
