// Goal: whatever part of the running oracle fails as nobody foresaw, its caller gets the documented 500 and learns
// nothing of the cause. Each part throws through its own interface, and the caller asks over a socket.
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  expectDocumentedFailure,
  unforeseenFailures,
} from '../../../../packages/http/test/fixtures/unforeseenFailures.ts'
import { paths, type TestAppOptions, testApp } from '../../test/fixtures/oracleApp.ts'
import { depositB, depositFacts, depositTransaction, world } from '../../test/fixtures/world.ts'

const sound = world({ ethereum: { deposits: { [depositTransaction]: depositFacts([depositB]) } } })

/** As pino writes it. */
const errorLevel = 50

/** The parts that no attestation can do without. */
const failing: readonly (readonly [string, (fail: () => never) => TestAppOptions])[] = [
  ['its facts', (fail) => ({ context: { ...sound, readerOf: fail } })],
  ['its names of chains', (fail) => ({ context: { ...sound, networkOf: fail } })],
  ['its key', (fail) => ({ context: sound, signs: fail })],
]

describe.each(failing)('an attestation, by %s', (_part, failBy) => {
  test.each(unforeseenFailures)('Q-7: answers the documented 500 to %s', async (_what, thrown) => {
    let times = 0
    const fail = (): never => {
      times += 1
      throw thrown
    }
    const { app, lines } = await testApp(failBy(fail))
    onTestFinished(() => app.close())
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const body = JSON.stringify({ chainId: 'ethereum', transactionId: depositTransaction })
    const headers = { 'content-type': 'application/json' }
    await expectDocumentedFailure(await fetch(`${url}${paths.deposits}`, { method: 'POST', body, headers }))
    expect(times).toBeGreaterThan(0)
    // The operator is told.
    await expect.poll(() => lines.filter(({ level }) => level === errorLevel)).toHaveLength(1)
  })
})
