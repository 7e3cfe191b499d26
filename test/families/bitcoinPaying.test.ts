// Goal: of all that a fill wallet on Bitcoin ever signs for one payment id, one transaction at most is mined, whoever
// signed it, when, and with whatever memory; and an oracle attests what was paid. Who gains by breaking it: a user who
// is paid twice, a stranger who has a payment taken for made, an endpoint that lies about it. Method: chains with the
// mempool rules of nodes, read over HTTP by processes that remember nothing.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  AlreadyMarkedError,
  type LinePayingChain,
} from '../../packages/families/src/bitcoin/paying/linePayingChain.ts'
import {
  additional,
  aSignal,
  depository,
  funding,
  native,
  openChain,
  user,
} from './bitcoinSupport/bitcoinBed.ts'
import {
  closingOf,
  idOf,
  lineCoins,
  type PayingBed,
  paymentOf,
  signAt,
  startPayingBed,
  transactionOf,
} from './bitcoinSupport/payingBed.ts'

const readerOf = ({ nodes }: PayingBed) =>
  openChain({ api: 'node', urls: nodes.map((node) => node.url('node')) }).reader

describe.each(['node', 'esplora'] as const)('over the API of kind %s', (api) => {
  test('a payment is mined, remembered once it is final, and attested', async () => {
    const bed = await startPayingBed()
    const paying = bed.open({ api })
    const { hash, raw, place } = await signAt(paying, paymentOf(idOf(1)))
    await paying.broadcast(raw)
    await paying.broadcast(raw)
    expect((await paying.look([hash])).mined.has(hash)).toBe(false)
    bed.chain.mineWaiting()
    expect(await paying.look([hash])).toMatchObject({ tip: place, finalTip: bed.first })
    expect((await paying.look([hash])).mined.get(hash)).toEqual({ isFinal: false })
    expect((await paying.readFinal(idOf(1))).state).toBe('open')
    bed.chain.mineEmpty(2)
    expect((await paying.look([hash])).mined.get(hash)).toEqual({ isFinal: true })
    expect((await paying.readFinal(idOf(1))).state).toBe('paid')
    expect((await paying.readFinal(idOf(2))).state).toBe('open')
    const question = {
      transactionId: hash,
      orderId: idOf(1),
      extraData: '0x' as const,
      payments: [{ recipient: user.witness.address, currency: native }],
    }
    expect(await readerOf(bed).readPayment(question, aSignal())).toMatchObject({
      referencesOrder: true,
      transfers: [{ amount: 10_000n }],
    })
  })

  test('a process that remembers nothing finds where the line ends, and signs no payment of it again', async () => {
    const bed = await startPayingBed()
    const first = bed.open({ api })
    for (const number of [1, 2, 3]) {
      const { raw } = await signAt(first, paymentOf(idOf(number)))
      await first.broadcast(raw)
      bed.settle()
    }
    const next = bed.open({ api })
    for (const number of [1, 2, 3])
      await expect(signAt(next, paymentOf(idOf(number)))).rejects.toThrow(AlreadyMarkedError)
    expect((await next.readFinal(idOf(2))).state).toBe('paid')
    const { raw } = await signAt(next, paymentOf(idOf(4)))
    await next.broadcast(raw)
    bed.settle()
    expect(bed.received()).toBe(40_000n)
  })

  test('L-40: coins beside the line are found once they are final, and are gathered into it', async () => {
    const bed = await startPayingBed()
    const paying = bed.open({ api })
    const stray = funding(
      { script: user.witness.script, value: 5_000n },
      { script: bed.script, value: 7_000n },
    )
    const looksLikeLine = funding({ script: bed.script, value: 3_000n })
    bed.chain.mine(stray, looksLikeLine)
    expect(await paying.readOutputsBesideLine()).toEqual([])
    bed.chain.mineEmpty(2)
    const beside = await paying.readOutputsBesideLine()
    expect(beside).toEqual([
      { txid: stray.getId(), vout: 1, value: 7_000n },
      { txid: looksLikeLine.getId(), vout: 0, value: 3_000n },
    ])
    const { tip } = await paying.look([])
    expect(tip).toMatchObject(bed.first)
    const { raw, left } = await paying.sign({ payments: [] }, { parent: tip, gathered: beside }, 1_000n)
    expect(left).toBe(lineCoins + 10_000n - 1_000n)
    await paying.broadcast(raw)
    bed.settle()
    expect((await paying.look([])).tip.value).toBe(left)
    expect(await paying.readOutputsBesideLine()).toEqual([])
  })

  test('what nodes refuse is told in their words', async () => {
    const bed = await startPayingBed()
    const paying = bed.open({ api })
    const first = await signAt(paying, paymentOf(idOf(1)))
    await paying.broadcast(first.raw)
    const second = await signAt(paying, paymentOf(idOf(2)), { parent: first.parent, fee: 1_001n })
    await expect(paying.broadcast(second.raw)).rejects.toThrow('insufficient fee')
    const poor = await signAt(paying, paymentOf(idOf(3)), { parent: first.place, fee: 1n })
    await expect(paying.broadcast(poor.raw)).rejects.toThrow('min relay fee')
  })
})

describe('two transactions of one id', () => {
  test('at one place exclude each other, whichever pays more', async () => {
    const bed = await startPayingBed()
    const [one, other] = [bed.open(), bed.open()]
    const [first, second] = [
      await signAt(one, paymentOf(idOf(1))),
      await signAt(other, paymentOf(idOf(1)), { fee: 2_000n }),
    ]
    await one.broadcast(first.raw)
    await other.broadcast(second.raw)
    await expect(one.broadcast(first.raw)).rejects.toThrow('insufficient fee')
    bed.settle()
    await expect(one.broadcast(first.raw)).rejects.toThrow('missingorspent')
    expect([bed.received(), bed.naming(idOf(1))]).toEqual([10_000n, 1])
  })

  test('one behind the other are never signed, mined or not', async () => {
    const bed = await startPayingBed()
    const paying = bed.open()
    const first = await signAt(paying, paymentOf(idOf(1)))
    paying.learn([first.raw])
    const between = await signAt(paying, paymentOf(idOf(2)), { parent: first.place })
    paying.learn([between.raw])
    await expect(signAt(paying, paymentOf(idOf(1)), { parent: between.place })).rejects.toThrow('it is paid')
    expect(await paying.stateAt(between.place, idOf(1))).toBe('paid')
    expect(await paying.stateAt(first.parent, idOf(1))).toBe('open')
  })
})

test('L-38: whatever processes forget, sign, send and replace, and whatever blocks are dropped, each id is mined once', async () => {
  const step = fc.record({
    id: fc.integer({ min: 1, max: 3 }),
    place: fc.nat(20),
    fee: fc.integer({ min: 300, max: 30_000 }),
    does: fc.constantFrom('sign', 'sign', 'sign', 'send', 'send', 'mine', 'drop', 'forget'),
    isClosing: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const bed = await startPayingBed()
      let paying = bed.open()
      const signed: Awaited<ReturnType<typeof signAt>>[] = []
      for (const { id, place, fee, does, isClosing } of steps) {
        if (does === 'sign') {
          // Any place that was ever left, mined, replaced or dropped: what a process may believe to be the end.
          const parent = [undefined, ...signed.map((one) => one.place)][place % (signed.length + 1)]
          const work = isClosing && id === 3 ? closingOf(idOf(id)) : paymentOf(idOf(id))
          const made = await signUnlessMarked(paying, work, { ...(parent && { parent }), fee: BigInt(fee) })
          if (made === undefined) continue
          signed.push(made)
          paying.learn([made.raw])
        }
        if (does === 'send') {
          const one = signed[place % Math.max(1, signed.length)]
          if (one !== undefined) bed.chain.offer(transactionOf(one.raw))
        }
        if (does === 'mine') bed.chain.mineWaiting()
        if (does === 'drop' && bed.chain.tipHeight > 6) bed.chain.drop(1 + (place % 2))
        if (does === 'forget') {
          paying = bed.open()
          paying.learn(signed.map(({ raw }) => raw))
        }
      }
      // At last everybody sends all that he has, the richest first and again.
      for (let turn = 0; turn < 3; turn += 1) {
        for (const { raw } of signed) bed.chain.offer(transactionOf(raw))
        bed.chain.mineWaiting()
      }
      for (const id of [1, 2, 3]) expect(bed.naming(idOf(id))).toBeLessThanOrEqual(1)
      expect(bed.received()).toBeLessThanOrEqual(30_000n)
    }),
    { numRuns: 12 },
  )
}, 60_000)

async function signUnlessMarked(...asked: Parameters<typeof signAt>) {
  try {
    return await signAt(...asked)
  } catch (error) {
    if (error instanceof AlreadyMarkedError) return undefined
    throw error
  }
}

describe('an endpoint that lies', () => {
  /** One that hides a transaction, its outputs among those of the wallet, and what it spends. */
  async function hiding(bed: PayingBed, index: number, hash: string) {
    bed.nodes[index]?.fault((what, answer) => {
      const isOfIt = answer.text.includes(hash)
      if (what === 'getrawtransaction' && isOfIt) return { ...answer, text: unknownText(answer.text) }
      if (what === 'gettxout') return { ...answer, text: unspentText(answer.text) }
      return what === 'scantxoutset' ? { ...answer, text: scanText(answer.text, bed.first) } : answer
    })
  }
  const idIn = (text: string): unknown => JSON.parse(text).id
  const unknownText = (text: string) =>
    JSON.stringify({
      result: null,
      error: { code: -5, message: 'No such mempool or blockchain transaction.' },
      id: idIn(text),
    })
  const unspentText = (text: string) =>
    JSON.stringify({ result: { confirmations: 1 }, error: null, id: idIn(text) })
  const scanText = (text: string, first: PayingBed['first']) =>
    JSON.stringify({ result: { success: true, unspents: [first] }, error: null, id: idIn(text) })

  test('alone about a payment has it signed again, and never paid again', async () => {
    const bed = await startPayingBed(1)
    const { raw, hash, parent } = await signAt(bed.open(), paymentOf(idOf(1)))
    bed.chain.offer(transactionOf(raw))
    bed.settle()
    await hiding(bed, 0, hash)
    const deceived = await signAt(bed.open(), paymentOf(idOf(1)), { fee: 50_000n })
    expect(deceived.parent).toEqual(parent)
    expect(bed.chain.offer(transactionOf(deceived.raw))).toBe('bad-txns-inputs-missingorspent')
    bed.settle()
    expect([bed.received(), bed.naming(idOf(1))]).toEqual([10_000n, 1])
  })

  test('about the bytes of the line stops the wallet, and shows it no other line', async () => {
    const bed = await startPayingBed(1)
    const first = bed.open()
    for (const id of [1, 2]) {
      const { raw } = await signAt(first, paymentOf(idOf(id)))
      await first.broadcast(raw)
      bed.settle()
    }
    bed.nodes[0]?.fault((what, answer) => {
      if (what !== 'getrawtransaction') return answer
      const body = JSON.parse(answer.text)
      return body.result === null
        ? answer
        : {
            ...answer,
            text: JSON.stringify({ ...body, result: { ...body.result, hex: spoilt(body.result.hex) } }),
          }
    })
    await expect(signAt(bed.open(), paymentOf(idOf(1)))).rejects.toMatchObject({
      kind: 'upstream_unavailable',
    })
  })
  const spoilt = (hex: string) => hex.replace(/ffffff/, 'fffffe')
})

test('coins that a stranger sends the wallet are no line, however they look', async () => {
  const bed = await startPayingBed()
  const paying = bed.open()
  const forged = funding({ script: bed.script, value: 900_000n })
  bed.chain.mine(forged)
  bed.chain.mineEmpty(3)
  const place = { txid: forged.getId(), vout: 0, value: 900_000n }
  expect((await bed.open().look([forged.getId()])).tip).toMatchObject(bed.first)
  await expect(signAt(paying, paymentOf(idOf(1)), { parent: place })).rejects.toThrow('lead the line')
  expect(() => paying.learn([`0x${funding({ script: user.witness.script, value: 1n }).toHex()}`])).toThrow(
    'leads no line',
  )
})

test('a block that is dropped takes its payment back, and it is not signed again behind what remains of it', async () => {
  const bed = await startPayingBed()
  const paying = bed.open()
  const { raw, hash, parent } = await signAt(paying, paymentOf(idOf(1)))
  await paying.broadcast(raw)
  bed.chain.mineWaiting()
  bed.chain.drop(1)
  bed.chain.mineEmpty(2)
  expect(await paying.look([hash])).toMatchObject({ tip: parent })
  const again = await signAt(paying, paymentOf(idOf(1)), { fee: 5_000n })
  await paying.broadcast(again.raw)
  bed.settle()
  expect(bed.naming(idOf(1))).toBe(1)
})

test.each<[string, string, bigint]>([
  ['a depository', depository, 10_000n],
  ['a depository', additional, 10_000n],
  ['nobody has the key', native, 10_000n],
  ['an amount', user.witness.address, 293n],
  ['an amount', user.legacy.address, 545n],
  ['an amount', user.nested.address, 539n],
  ['an amount', user.taproot.address, 329n],
])('a payment is refused because of %s: %s', async (reason, recipient, amount) => {
  const paying = (await startPayingBed()).open()
  const refusalOf = (to: string, of: bigint) => paying.refuse({ payments: [{ recipient: to, amount: of }] })
  expect(refusalOf(recipient, amount)).toContain(reason)
  expect(refusalOf(user.witness.address, 294n)).toBeUndefined()
  expect(refusalOf(user.legacy.address, 546n)).toBeUndefined()
})

test('nothing is signed that leaves the line less than it keeps', async () => {
  const paying: LinePayingChain = (await startPayingBed()).open()
  await expect(signAt(paying, paymentOf(idOf(1), idOf(1), lineCoins - 1_000n - 293n))).rejects.toThrow(
    'leaves its line',
  )
  expect((await signAt(paying, paymentOf(idOf(1), idOf(1), lineCoins - 1_000n - 294n))).left).toBe(
    paying.keptSatoshi,
  )
})
