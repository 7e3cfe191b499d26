// P24: the reference page, from the address to the list of its operations and to a page that answers again, and from
// opening the first operation to Swagger UI showing it. Chromium is watched from outside: a debugger that follows scripts
// (what tests drive it with) triples the time of this page.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { testApp } from '../apps/quote-api/test/fixtures/app.ts'
import { marketWithPools } from '../apps/quote-api/test/fixtures/market.ts'
import { createTestApp } from '../packages/http/test/fixtures/httpTestApp.ts'
import { findChromium } from '../test/support/widgetPage.ts'
import { median } from './load.ts'
import type { BenchRow } from './row.ts'

const loads = 5
const goalMs = 1_000
const servers = [{ url: '/', description: 'This service' }]

/** Notes when operations are listed, when one is open, and what kept the page from answering. @see seenSchema */
const observer = `
  globalThis.seen = { operations: 0, listedMs: 0, openedMs: 0, busyUntilMs: 0 }
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.busyUntilMs = startTime + duration
  }).observe({ type: 'longtask', buffered: true })
  new MutationObserver(() => {
    const operations = document.querySelectorAll('#operation-list li').length
    if (operations > seen.operations) Object.assign(seen, { operations, listedMs: performance.now() })
    if (seen.openedMs === 0 && document.querySelector('.opblock-body')) seen.openedMs = performance.now()
  }).observe(document, { childList: true, subtree: true })`
const readSeen = `({ ...seen, nowMs: performance.now(),
  bytes: performance.getEntriesByType('resource').reduce((sum, { transferSize }) => sum + transferSize, 0) })`
const openFirst = `(() => { document.querySelector('#operation-list li a').click(); return performance.now() })()`
const seenSchema = z.object({
  operations: z.number(),
  listedMs: z.number(),
  openedMs: z.number(),
  busyUntilMs: z.number(),
  nowMs: z.number(),
  bytes: z.number(),
})
type Load = z.infer<typeof seenSchema> & {
  /** Processor time of the main thread, the opened operation included. */
  readonly processorMs: number
  /** From the address until the list is there and the page answers. */
  readonly answersMs: number
  /** From the tap until the operation is there and the page answers. */
  readonly opensMs: number
}

/**
 * Two rows: the list against a second, and what opening its first operation takes, against a page with a single
 * operation, which is what Swagger UI costs by itself.
 */
export async function benchPage(): Promise<readonly BenchRow[]> {
  const app = await testApp({ market: { current: marketWithPools() }, servers })
  const bare = await createTestApp({ openApi: { title: 'One operation', description: '', servers } })
  const browser = await openBrowser(await findChromium())
  try {
    const [url, bareUrl] = await Promise.all(
      [app, bare].map((each) => each.listen({ host: '127.0.0.1', port: 0 })),
    )
    const ours: Load[] = []
    const bares: Load[] = []
    for (let load = 0; load < loads; load += 1) {
      ours.push(await browser.load(`${url}/documentation`))
      bares.push(await browser.load(`${bareUrl}/documentation`))
    }
    return rowsOf(ours, bares)
  } finally {
    await browser.close()
    await Promise.all([app.close(), bare.close()])
  }
}

function rowsOf(ours: readonly Load[], bares: readonly Load[]): readonly BenchRow[] {
  const of = (runs: readonly Load[], figure: keyof Load) => median(runs.map((run) => run[figure]))
  const told = (runs: readonly Load[]) =>
    `${of(runs, 'operations')} operations listed after ${of(runs, 'listedMs').toFixed(0)} ms, answers after ${of(runs, 'answersMs').toFixed(0)}, opens the first in ${of(runs, 'opensMs').toFixed(0)}, ${of(runs, 'processorMs').toFixed(0)} ms of its main thread in all, ${(of(runs, 'bytes') / 1_000).toFixed(0)} kB`
  return [
    {
      id: 'P24',
      name: 'reference page, nothing kept by the browser: until the page answers with its operations listed',
      value: `${told(ours)}; first ${ours[0]?.listedMs.toFixed(0)} ms`,
      limit: `at most ${goalMs} ms`,
      ratio: of(ours, 'answersMs') / goalMs,
      goal: 1,
      atLeast: false,
    },
    {
      id: 'P24-open',
      name: 'reference page: opening the first operation of the list against the page of a service with one operation',
      value: told(ours),
      limit: 'at most 1.5 of it',
      ratio: of(ours, 'opensMs') / of(bares, 'opensMs'),
      goal: 1.5,
      atLeast: false,
    },
  ]
}

type Browser = { load(url: string): Promise<Load>; close(): Promise<void> }

/** Commands to Chromium itself: neither its consoles nor its debugger are on. @source the DevTools protocol */
async function openBrowser(executable: string): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-page-'))
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--remote-debugging-port=0',
    '--window-size=400,800',
  ]
  const child = spawn(executable, [...flags, `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const socket = new WebSocket(await addressOf(child))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const waiting = new Map<number, (answer: unknown) => void>()
  socket.on('message', (data) => {
    const { id, result } = messageSchema.parse(JSON.parse(String(data)))
    if (id !== undefined) waiting.get(id)?.(result)
  })
  let last = 0
  const send = (method: string, params: object, sessionId?: string): Promise<unknown> => {
    last += 1
    const id = last
    socket.send(JSON.stringify({ id, method, params, sessionId }))
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  return {
    load: (url) => loadOnce(send, url),
    async close() {
      socket.close()
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await ended
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const messageSchema = z.object({ id: z.number().optional(), result: z.unknown().optional() })
const contextSchema = z.object({ browserContextId: z.string() })
const targetSchema = z.object({ targetId: z.string() })
const sessionSchema = z.object({ sessionId: z.string() })
const metricsSchema = z.object({ metrics: z.array(z.object({ name: z.string(), value: z.number() })) })
const evaluatedSchema = z.object({ result: z.object({ value: z.unknown() }) })
const settleMs = 1_500
const loadMsMax = 120_000

async function loadOnce(
  send: (method: string, params: object, sessionId?: string) => Promise<unknown>,
  url: string,
): Promise<Load> {
  // A context of its own has nothing kept.
  const { browserContextId } = contextSchema.parse(await send('Target.createBrowserContext', {}))
  const target = { url: 'about:blank', browserContextId }
  const { targetId } = targetSchema.parse(await send('Target.createTarget', target))
  const { sessionId } = sessionSchema.parse(await send('Target.attachToTarget', { targetId, flatten: true }))
  await send('Page.enable', {}, sessionId)
  await send('Page.addScriptToEvaluateOnNewDocument', { source: observer }, sessionId)
  await send('Performance.enable', { timeDomain: 'threadTicks' }, sessionId)
  await send('Page.navigate', { url }, sessionId)
  const evaluate = async (expression: string): Promise<unknown> => {
    const evaluation = { expression, returnByValue: true }
    return evaluatedSchema.parse(await send('Runtime.evaluate', evaluation, sessionId)).result.value
  }
  const listed = await settled(evaluate, url, ({ operations, listedMs }) => (operations === 0 ? 0 : listedMs))
  const openedAtMs = z.number().parse(await evaluate(openFirst))
  const opened = await settled(evaluate, url, ({ openedMs }) => openedMs)
  const { metrics } = metricsSchema.parse(await send('Performance.getMetrics', {}, sessionId))
  const tasks = metrics.find(({ name }) => name === 'TaskDuration')
  await send('Target.disposeBrowserContext', { browserContextId })
  return {
    ...opened.seen,
    answersMs: listed.answersMs,
    opensMs: opened.answersMs - openedAtMs,
    processorMs: (tasks?.value ?? Number.NaN) * 1_000,
  }
}

/** Figures of the page once it has been responsive for a while after `since`. */
async function settled(
  evaluate: (expression: string) => Promise<unknown>,
  url: string,
  since: (seen: z.infer<typeof seenSchema>) => number,
): Promise<{ readonly seen: z.infer<typeof seenSchema>; readonly answersMs: number }> {
  const begun = performance.now()
  while (performance.now() - begun < loadMsMax) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    const seen = seenSchema.safeParse(await evaluate(readSeen))
    if (!seen.success || since(seen.data) === 0) continue
    const answersMs = Math.max(since(seen.data), seen.data.busyUntilMs)
    if (seen.data.nowMs - answersMs >= settleMs) return { seen: seen.data, answersMs }
  }
  throw new Error(`${url} lists or opens no operation`)
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (data) => {
      said += String(data)
      const [address] = /ws:\/\/\S+/.exec(said) ?? []
      if (address !== undefined) resolve(address)
    })
    child.once('exit', () => reject(new Error(`Chromium ended: ${said}`)))
  })
}
