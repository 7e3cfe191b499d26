// Goal: nobody who reads the log slowly stops a service, and no line is torn. Attackers: a reader that takes nothing, a
// flood of requests, a process that ends with lines waiting. Method: a pipe of another process that reads or does not.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'

const modulePath = new URL('./logDestination.ts', import.meta.url).href
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A process that logs into its standard output, which is a pipe to this one; on the other channel it tells the rest. */
function logging(program: string): ChildProcess {
  const source = `
    import { pino } from 'pino'
    import { createLogDestination } from ${JSON.stringify(modulePath)}
    const destination = createLogDestination()
    const logger = pino({ base: {} }, destination)
    ${program}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    cwd: new URL('..', import.meta.url).pathname,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  children.push(child)
  return child
}

const flood = (count: number) =>
  `for (let n = 0; n < ${count}; n += 1) logger.info({ event: 'request', n, filler: 'x'.repeat(150) }, 'answered')`

test('O-201: a reader that takes nothing stops nobody: what does not fit is dropped and counted', async () => {
  const child = logging(`
    ${flood(50_000)}
    setTimeout(() => process.send({ dropped: destination.dropped() }), 50)
    setInterval(() => {}, 1_000)`)
  const [told] = await once(child, 'message')
  expect(told).toEqual({ dropped: expect.any(Number) })
  expect(Object(told).dropped).toBeGreaterThan(40_000)
  expect(Object(told).dropped).toBeLessThan(50_000)
}, 60_000)

test('lines of both kinds come whole, those of requests in their order, and none is lost at the end', async () => {
  const child = logging(`
    for (let n = 0; n < 2_000; n += 1) {
      logger.info({ event: 'request', n, filler: 'x'.repeat(n % 400) }, 'answered')
      if (n % 10 === 0) logger.warn({ event: 'other', n, filler: 'y'.repeat(3_000) }, 'at once')
      if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    process.disconnect()`)
  let text = ''
  child.stdout?.on('data', (chunk) => {
    text += String(chunk)
  })
  await once(child, 'close')
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ event }) => event === 'request').map(({ n }) => n)).toEqual(
    Array.from({ length: 2_000 }, (_, n) => n),
  )
  expect(lines.filter(({ event }) => event === 'other')).toHaveLength(200)
}, 60_000)
