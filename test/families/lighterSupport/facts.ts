import { encodeLighterWithdrawal } from '@causeway/families/rules'
import { lighterBodies, startLighterNode } from '@causeway/localnet/standIns/lighter'
import { openLighterChain } from '../../../packages/families/src/lighter/reading/openLighterChain.ts'
import type { FactsFixture, Question } from '../../readerSupport/factsCase.ts'
import { chainOf } from './lighterBed.ts'
import { additional, depository, keyOf, orderId, put, transfer, user, withdrawalOf } from './transfers.ts'

/** Another amount or key. */
const lie: Required<Question>['lie'] = (digit) => () => ({
  change: (text) =>
    text.replace('\\"Amount\\":1000000', `\\"Amount\\":900000${digit}`).replace('abab', `ab${digit}b`),
})
const requests = [1, 1] as const

/** The exchange with a deposit, a payment, an executed withdrawal and a key. */
export async function startLighterFacts(): Promise<FactsFixture> {
  const node = await startLighterNode()
  for (const account of [depository, additional]) node.setAccount(account, keyOf('aa'))
  node.setAccount(user, keyOf('ab'))
  const payout = transfer({
    FromAccountIndex: BigInt(depository),
    ToAccountIndex: BigInt(user),
    ExpiredAt: 4_000_000_000_000n,
  })
  const [transactionId, payment] = [put([node], transfer()), put([node], payout)]
  const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout))
  const payments = [{ recipient: user, currency: '0' }]
  return {
    url: node.url,
    open(urls, { threshold: rpcThreshold, finalEntriesMax = 0 }) {
      const change = rpcThreshold === undefined ? {} : { rpcThreshold }
      const endpoints = urls.map((url) => ({ url }))
      return openLighterChain(chainOf(endpoints, change), { finalEntriesMax })
    },
    deposit: {
      transactionId,
      spelled: [],
      facts: { deposits: [{ amount: 1_000_000n, depositId: orderId }] },
      evidence: { chainId: 'lighter', finalityRule: 'executed by the sequencer' },
    },
    ids: {
      unknown: 'ab'.repeat(40),
      invalid: ['', 'abc', `0x${'ab'.repeat(40)}`, 'zz', 'ab'.repeat(200), '../account'],
    },
    questions: {
      deposit: { ask: (reader, options) => reader.readDeposits({ transactionId }, options), lie, requests },
      payment: {
        ask: (reader, options) =>
          reader.readPayment({ transactionId: payment, orderId, extraData: '0x', payments }, options),
        lie,
        requests,
      },
      withdrawal: {
        ask: (reader, options) => reader.readWithdrawal({ withdrawal, transactionId: payment }, options),
        lie: (digit) => () => ({
          change: (text) => text.replace('"status":3', `"status":${digit === 1 ? 1 : 4}`),
        }),
        requests,
      },
      key: {
        ask: async (reader, options) => ({ key: await reader.readOwnerKey?.(user, options) }),
        lie,
        requests,
      },
    },
    lose: (asked) =>
      asked.includes('/tx?') ? { status: 400, text: lighterBodies.notFound.body.transaction } : 'pass',
    lostByTwo: 'TRANSACTION_MISSING',
    stop: () => node.stop(),
  }
}
