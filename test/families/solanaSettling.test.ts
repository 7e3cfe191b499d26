// Goal: settlement sees every deposit of a cluster once most endpoints do, and nothing that only one of them says.
// Method: our program on the real runtime behind proxies, of which one withholds, invents or lags; lists longer than
// a page are constructed, because ten thousand deposits take the runtime minutes.
import { encodeBase58, type Hex } from '@causeway/core'
import type { SeenCall } from '@causeway/localnet'
import { depositNative } from '@causeway/localnet/standIns/solana'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { proxiesOf, type SolanaBed, settlingOf, startSolanaBed } from './solanaSupport/solanaBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const signal = () => AbortSignal.timeout(30_000)
let bed: SolanaBed
beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())

const deposited = () =>
  bed.send([
    depositNative(bed.depository, {
      sender: bed.user.publicKey,
      amount: BigInt(Math.ceil(Math.random() * 1e6)),
      id,
    }),
  ])

test('F-140: deposits of a range are found in their order, beside slots without a block, and nothing that failed', async () => {
  const chain = settlingOf(bed)
  const known = bed.node.slot('confirmed')
  bed.node.skipSlot()
  const first = await deposited()
  const tooMuch = depositNative(bed.depository, { sender: bed.user.publicKey, amount: 10n ** 15n, id })
  await bed.send([tooMuch], { skipPreflight: true })
  const second = await deposited()
  const to = await chain.head(signal())
  expect(to).toBe(bed.node.slot('confirmed'))
  const pass = await chain.depositPass({ from: known + 1n, to, known }, signal())
  expect(pass.transactions).toEqual([first, second])
  expect(pass.last).toEqual({ number: to, hash: bed.node.block(to)?.hash })
  const facts = await chain.deposits(first, signal())
  expect(facts?.deposits).toMatchObject([{ depositId: id, depositor: bed.user.publicKey.toBase58() }])
  const hashes = await chain.blockHashes([known + 1n, known + 2n, to + 5n], signal())
  expect([...hashes]).toEqual([
    [known + 1n, 'skipped'],
    [known + 2n, bed.node.block(known + 2n)?.hash],
  ])
  // The next range begins where this one ended.
  await expect(chain.depositPass({ from: to, to, known: to }, signal())).resolves.toMatchObject({
    transactions: [second],
  })
})

test('F-104: what another fork may still replace is in no block, and no deposit', async () => {
  const chain = settlingOf(bed)
  const known = await chain.head(signal())
  bed.node.hold()
  bed.node.mine(1)
  const gone = await deposited()
  expect(bed.node.slot('confirmed')).toBeGreaterThan(known)
  expect(await chain.head(signal())).toBe(known)
  await expect(chain.deposits(gone, signal())).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  bed.node.drop()
  bed.node.skipSlot()
  expect(await chain.deposits(gone, signal())).toBeUndefined()
  const to = await chain.head(signal())
  expect(to).toBeGreaterThan(known)
  const pass = await chain.depositPass({ from: known + 1n, to, known }, signal())
  expect(pass.transactions).toEqual([])
})

test.each<[string, (list: readonly unknown[]) => readonly unknown[]]>([
  ['withholds', (list) => list.slice(1)],
  [
    'invents',
    (list) => [{ ...Object(list[0]), signature: encodeBase58(new Uint8Array(64).fill(7)) }, ...list],
  ],
])('F-140: an endpoint that %s a deposit is outvoted by two others', async (_what, told) => {
  const proxies = await proxiesOf(bed, 3)
  await proxies[0]?.set({
    kind: 'lie',
    rewrite: ({ method }, result) =>
      method === 'getSignaturesForAddress' && Array.isArray(result) ? told(result) : result,
  })
  const chain = settlingOf(
    bed,
    proxies.map(({ url }) => url),
  )
  const known = bed.node.slot('confirmed')
  const paid = await deposited()
  const to = await chain.head(signal())
  const pass = await chain.depositPass({ from: known + 1n, to, known }, signal())
  expect(pass.transactions).toEqual([paid])
})

test('a list of many pages is read to its end, and entered behind what lies beyond the range', async () => {
  const pageMax = 1_000
  const [proxy] = await proxiesOf(bed, 1)
  if (proxy === undefined) throw new Error('no proxy')
  bed.node.mine(4_000)
  const head = Number(bed.node.slot('confirmed'))
  // One transaction in each of the last 3,500 slots, the newest first.
  const listed = Array.from({ length: 3_500 }, (_, index) => {
    const bytes = new Uint8Array(64).fill(1)
    new DataView(bytes.buffer).setUint32(0, index)
    const signature = encodeBase58(bytes)
    return { signature, slot: head - index, err: null, confirmationStatus: 'finalized' }
  })
  let asked = 0
  const page = ({ params }: SeenCall) => {
    asked += 1
    const { before } = Object(params[1])
    const start = listed.findIndex(({ signature }) => signature === before) + 1
    return listed.slice(start, start + pageMax)
  }
  await proxy.set({
    kind: 'lie',
    rewrite: (call, result) => (call.method === 'getSignaturesForAddress' ? page(call) : result),
  })
  const chain = settlingOf(bed, [proxy.url])
  const [from, to] = [BigInt(head - 3_200), BigInt(head - 3_100)]
  const range = { from, to, known: from - 1n }
  const first = await chain.depositPass(range, signal())
  expect(first.transactions).toHaveLength(101)
  expect(asked).toBe(4)
  expect(await chain.depositPass(range, signal())).toEqual(first)
  expect(asked).toBe(5)
})
