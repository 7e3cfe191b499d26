import { encodeHyperliquidWithdrawal } from '@causeway/families/rules'
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import type { FactsFixture } from '../../readerSupport/factsCase.ts'
import {
  depository,
  hype,
  openReader,
  orderId,
  recipient,
  sendAsset,
  sender,
  startHyperliquidBed,
  timeMs,
  usdc,
} from './hyperliquidBed.ts'

/** The exchange with a deposit in another token, a payment and an executed withdrawal. */
export async function startHyperliquidFacts(): Promise<FactsFixture> {
  const bed = await startHyperliquidBed()
  bed.map({})
  const transactionId = bed.list(sendAsset({ token: `HYPE:${hype}` }))
  const payment = bed.list(sendAsset({ destination: recipient }))
  const sent = sendAsset({ destination: recipient, nonce: 9n })
  const executing = bed.list(sent, { user: depository })
  const withdrawal = encodeHyperliquidWithdrawal(sent)
  const paid = {
    transactionId: payment,
    orderId,
    extraData: '0x',
    payments: [{ recipient, currency: usdc }],
  } as const
  const hints = { 'hyperliquid-vm': { user: sender, timestamp: timeMs } }
  return {
    url: bed.exchanges[0].url,
    open(urls, { limits: quorumLimits, finalEntriesMax = 0, ...options }) {
      const opened = openReader(bed, {
        urls,
        limits: { finalEntriesMax },
        ...(quorumLimits && { quorumLimits }),
        ...options,
      })
      return { reader: opened.reader, close: () => opened.quorum.close() }
    },
    deposit: {
      transactionId,
      spelled: [],
      facts: { deposits: [{ amount: 1_250n, depositId: orderId }] },
      evidence: { chainId: 'hyperliquid', blockNumber: 700n, finalityRule: 'shown in a block' },
    },
    ids: { unknown: `0x${'99'.repeat(32)}`, invalid: ['', '0x12', '99'.repeat(32)] },
    questions: {
      deposit: {
        ask: (reader, options) => reader.readDeposits({ transactionId }, options),
        lie: (digit) => () => ({ change: (text) => text.replaceAll('"12.5"', `"9${digit}.5"`) }),
        requests: [2, 2],
      },
      withdrawal: {
        ask: (reader, options) => reader.readWithdrawal({ withdrawal }, options),
        lie: (digit) => () => ({
          change: (text) => text.replaceAll(executing, `0x9${digit}`.padEnd(66, '9')),
        }),
      },
      payment: { ask: (reader, options) => reader.readPayment(paid, options) },
      'hinted payment': { ask: (reader, options) => reader.readPayment({ ...paid, hints }, options) },
    },
    lose: () => ({ status: 200, text: JSON.stringify(hyperliquidBodies.missing.body) }),
    lostByTwo: 'TRANSACTION_MISSING',
    stop: () => bed.stop(),
  }
}
