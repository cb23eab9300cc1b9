/** What the tests of the page begin with, and what they do on it: find a message, write one. */
import { afterAll, beforeAll } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { TestBrowser, type PageLook, type Tab } from './browser.ts'
import { startPageStage, type PageStage } from './page-stage.ts'

/** A sandbox with its page and an echo bot, from `beforeAll` to `afterAll`. */
export interface PageUse extends Pick<
  PageStage,
  'sandbox' | 'traffic' | 'url' | 'botUrl' | 'operations' | 'restarts' | 'call'
> {
  /** Opens the page, or a place of it such as `#/world`, in a tab of its own. */
  open(place?: string, look?: PageLook): Promise<Tab>
}

/** Starts it for the tests of a `describe`. */
export function usePage(): PageUse {
  const parts = new AsyncDisposableStack()
  let started: { stage: PageStage; browser: TestBrowser } | null = null
  const running = (): { stage: PageStage; browser: TestBrowser } => {
    if (started === null) throw new Error('not started yet')
    return started
  }
  beforeAll(async () => {
    const stage = parts.use(await startPageStage())
    stage.echo()
    started = { stage, browser: parts.use(await TestBrowser.start()) }
  })
  afterAll(() => parts.disposeAsync())
  return {
    get sandbox() {
      return running().stage.sandbox
    },
    get traffic() {
      return running().stage.traffic
    },
    get url() {
      return running().stage.url
    },
    get botUrl() {
      return running().stage.botUrl
    },
    get operations() {
      return running().stage.operations
    },
    get restarts() {
      return running().stage.restarts
    },
    call: (...of) => running().stage.call(...of),
    open: (place = '', look) => {
      const { browser, stage } = running()
      return browser.open(`${stage.url}/${place}`, look)
    },
  }
}

export const composer = (page: Page): Locator => page.getByRole('textbox', { name: /^Write as/ })

/** The rows in which the person reads these words. */
export const rowOf = (page: Page, words: string): Locator =>
  page.locator('.row').filter({ has: page.locator('.person-cell .words', { hasText: words }) })

/** Writes as a person does, and waits for the row. */
export async function write(page: Page, words: string): Promise<void> {
  await composer(page).fill(words)
  await composer(page).press('Enter')
  await rowOf(page, words).first().waitFor()
}
