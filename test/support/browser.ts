/** A real browser for the tests of the page: Chromium, as the system has it. */
import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { has } from './lacks.ts'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const EXECUTABLE = PLACES.find((path) => existsSync(path))
/** No sandbox, since tests run as root too; nothing that calls home. */
// prettier-ignore
const ARGUMENTS = [
  '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
  '--disable-sync', '--disable-background-networking', '--disable-component-update',
]

/** Whether there is a browser on this machine. */
export const hasBrowser = has(EXECUTABLE !== undefined, 'Chromium is not installed')

export const WIDE = { width: 1280, height: 800 }
export const NARROW = { width: 380, height: 780 }

export interface PageLook {
  viewport?: { width: number; height: number }
  colorScheme?: 'light' | 'dark'
}

/** A tab that remembers whatever went wrong in it. */
export interface Tab extends AsyncDisposable {
  page: Page
  /** Messages of the console at warning or error, exceptions, and requests to other origins. */
  problems: string[]
}

/** A browser that several tests share; each gets a context of its own. */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  /** @param hosts names that lead to this machine, as a page that rebinds its name has them */
  static async start(hosts: readonly string[] = []): Promise<TestBrowser> {
    const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(',')
    const args = [...ARGUMENTS, ...(rules === '' ? [] : [`--host-resolver-rules=${rules}`])]
    return new TestBrowser(await chromium.launch({ executablePath: EXECUTABLE ?? '', args }))
  }

  /** Opens an address that is none of the page's. */
  async visit(url: string): Promise<Page & AsyncDisposable> {
    const context = await this.#browser.newContext()
    const page = await context.newPage()
    await page.goto(url)
    return Object.assign(page, { [Symbol.asyncDispose]: () => context.close() })
  }

  /** Opens an address and waits until the page shows the world. */
  async open(url: string, { viewport = WIDE, colorScheme = 'light' }: PageLook = {}): Promise<Tab> {
    const context = await this.#browser.newContext({ viewport, colorScheme })
    context.setDefaultTimeout(15_000)
    const page = await context.newPage()
    const problems = watch(context, page, new URL(url).origin)
    await page.goto(url)
    await page.locator('.chat, .world, .activity, .blank button').first().waitFor()
    return { page, problems, [Symbol.asyncDispose]: () => context.close() }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }
}

function watch(context: BrowserContext, page: Page, origin: string): string[] {
  const problems: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !url.startsWith('blob:')) problems.push(`asked for ${url}`)
  })
  return problems
}
