import { describe, expect, onTestFinished, test } from 'vitest'
import { paths } from '../../../apps/oracle/test/fixtures/oracleApp.ts'
import type { FamilySide } from './familySide.ts'
import { issue } from './issued.ts'
import { type Answer, openOracle } from './oracle.ts'
import { depositedOrder } from './orders.ts'
import { withdrawalBody } from './withdrawalCases.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const seeds = isLongForm ? 1_000 : 25
const longest = isLongForm ? 3_600_000 : 300_000

/**
 * Changed answers through the routes, 1,000 of them in the long form, of the only endpoint and of one of three. Each request is answered
 * by a reader that remembers nothing.
 */
export function routeFuzz(sideOf: () => FamilySide | Promise<FamilySide>): void {
  describe('whatever an endpoint says, the routes answer', () => {
    test('with a typed refusal or what they read, where it is the only one', {
      timeout: longest,
    }, async () => {
      const { askAll, side } = await prepare(1)
      let refusals = 0
      for (let seed = 0; seed < seeds; seed += 1) {
        await side.lie(seed)
        for (const [path, { status, body }] of await askAll()) {
          if (status === 200) continue
          refusals += 1
          expect([400, 503], `${path}, change ${seed}: ${JSON.stringify(body)}`).toContain(status)
          expect(body, `${path}, change ${seed}`).toMatchObject({
            errorCode: expect.stringMatching(/^[A-Z_]+$/),
          })
        }
      }
      expect(refusals).toBeGreaterThan(seeds / 10)
    })

    test('with the bytes that they signed before, where two others tell the truth', {
      timeout: longest,
    }, async () => {
      const { askAll, side } = await prepare(3)
      const truth = await askAll()
      expect(truth.map(([, { status }]) => status)).toEqual([200, 200, 200, 200])
      for (let seed = 0; seed < seeds; seed += 1) {
        await side.lie(seed)
        expect(await askAll(), `change ${seed}`).toEqual(truth)
      }
    })
  })

  async function prepare(endpoints: 1 | 3) {
    const side = await sideOf()
    let { reader, close } = side.openReader(endpoints)
    const { post, networkOf, issue: tell } = await openOracle(side.chain, () => reader)
    const { chain, recipient } = side
    const { id, deposit, settlement } = await depositedOrder(side, networkOf)
    const transactionId = await side.pay({ orderId: id, amount: 900n, recipient })
    const refunded = await side.pay({ orderId: id, amount: 950n, recipient })
    const refunds = [{ transactionId: refunded, inputIndex: 0, refundIndex: 0 }]
    const withdrawn = await side.withdraw()
    issue(side, { issue: tell }, withdrawn)
    const questions: readonly (readonly [path: string, body: object])[] = [
      [paths.deposits, { chainId: chain.id, transactionId: deposit.transactionId }],
      [paths.fills, { ...settlement, fill: { transactionId } }],
      [paths.refunds, { ...settlement, refunds }],
      [paths.withdrawals, withdrawalBody(side, withdrawn)],
    ]
    onTestFinished(async () => {
      await side.lie(undefined)
      await close()
    })
    const askAll = async (): Promise<readonly (readonly [string, Answer])[]> => {
      // An endpoint that lied would not be asked for a while.
      await close()
      ;({ reader, close } = side.openReader(endpoints))
      return Promise.all(questions.map(async ([path, body]) => [path, await post(path, body)] as const))
    }
    return { askAll, side }
  }
}
