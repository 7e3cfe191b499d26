// Goal: where a network writes a log for each movement of ether, a deposit of ether is one deposit and a fill pays what it
// paid. Attacker: whoever has a movement of ether counted as a second deposit or payment. Method: the real contracts on a
// node under the newest rules that it has, read as an oracle reads them.
import { encodeDepositNative, encodeFillExtraData, type Hex, isNativeTransferLog } from '@causeway/core'
import { chainBedOn, randomWord, startTestNetwork, testFill } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aSignal, type ChainBed, readerOf } from './ethereumSupport/chainBed.ts'

const native = `0x${'00'.repeat(20)}`
const someone: Hex = `0x${'11'.repeat(20)}`
const recipient: Hex = `0x${'21'.repeat(20)}`
const id: Hex = `0x${'ab'.repeat(32)}`

let bed: ChainBed

beforeAll(async () => {
  bed = chainBedOn(await startTestNetwork({ hardfork: 'amsterdam' }), 'base')
})
afterAll(() => bed?.stop())

/** By log of the transaction, whether it tells of ether that moved. */
async function movementsIn({ transactionId: hash }: { readonly transactionId: Hex }) {
  const { logs } = await bed.chain.client.getTransactionReceipt({ hash })
  return logs.map(isNativeTransferLog)
}

test('F-117: a deposit of ether beside the log of its movement is one deposit, at the place of its own event', async () => {
  const [user] = bed.network.keys.users
  if (user === undefined) throw new Error('no user')
  const { depository } = bed.deployment
  const sent = await bed.send(user, depository, encodeDepositNative(someone, id), 7n)
  expect(await movementsIn(sent)).toEqual([true, false])
  await bed.mine(2)
  const { transactionId } = sent
  const { deposits } = await readerOf(bed).reader.readDeposits({ transactionId }, aSignal())
  expect(deposits).toEqual([
    { onchainIndex: '1', depository, depositId: id, depositor: someone, currency: native, amount: 7n },
  ])
})

test('F-117: a fill in ether and a token pays each once', async () => {
  const { fillContract, tokens } = bed.deployment
  const orderId = randomWord()
  const natives = [{ to: recipient, amount: 5n }]
  const data = testFill({ orderId, natives, tokens: [{ token: tokens.USDC, to: recipient, amount: 9n }] })
  const sent = await bed.send(bed.network.keys.fillWallet, fillContract, data, 5n)
  expect((await movementsIn(sent)).filter(Boolean)).toHaveLength(2)
  await bed.mine(2)
  const facts = await readerOf(bed).reader.readPayment(
    {
      ...{ transactionId: sent.transactionId, orderId, extraData: encodeFillExtraData(fillContract) },
      payments: [native, tokens.USDC].map((currency) => ({ recipient, currency })),
    },
    aSignal(),
  )
  expect(facts).toMatchObject({ referencesOrder: true, recordId: orderId })
  expect(facts.recordProblem).toBeUndefined()
  expect(facts.transfers.map(({ currency, amount }) => [currency, amount])).toEqual([
    [native, 5n],
    [tokens.USDC, 9n],
  ])
})
