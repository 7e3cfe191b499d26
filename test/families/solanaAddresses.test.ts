// Goal: what lies at deposit addresses on Solana, and who brought it, is what most endpoints show. Who gains by breaking
// it: an endpoint that shows a payment alone, or hides one; a stranger whose own address changes with every slot, so that
// nobody's is read; whoever is denied and hides his payment behind many small ones. Method: the real runtime behind three
// proxies, of which one lies.
import { encodeBase58 } from '@causeway/core'
import type { AddressReading } from '@causeway/families'
import { token2022Program, tokenProgram } from '@causeway/families/rules'
import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payCoin, payToken } from './solanaSupport/plainPayments.ts'
import { proxiesOf, type SolanaBed, settlingOf, startSolanaBed } from './solanaSupport/solanaBed.ts'

const sol = '1'.repeat(32)
const signal = () => AbortSignal.timeout(30_000)
let bed: SolanaBed
beforeAll(async () => {
  bed = await startSolanaBed()
})
afterAll(() => bed?.stop())

function addressesOf(urls: readonly string[] = [bed.url]): AddressReading {
  const { addresses } = settlingOf(bed, urls)
  if (addresses === undefined) throw new Error('the family reads addresses')
  return addresses
}

const question = () => ({
  currencies: [
    { address: sol },
    { address: bed.mint.toBase58() },
    { address: bed.feeMint.toBase58(), tokenProgram: token2022Program },
  ],
  height: bed.node.slot('confirmed'),
})
const anAddress = () => Keypair.generate().publicKey.toBase58()
const aPayer = () => {
  const payer = Keypair.generate()
  bed.node.airdrop(payer.publicKey.toBase58(), 10n ** 10n)
  return payer
}

test('balances of SOL and of both kinds of tokens are held, and nothing of what was not paid', async () => {
  const [rich, poor] = [anAddress(), anAddress()]
  await payCoin(bed, rich)
  await payToken(bed, rich, { mint: bed.mint, program: tokenProgram })
  await payToken(bed, rich, { mint: bed.feeMint, program: token2022Program })
  expect(await addressesOf().held([poor, rich], question(), signal())).toEqual([
    new Map(),
    new Map([
      [sol, 1_000_000n],
      [bed.mint.toBase58(), 1_000n],
      [bed.feeMint.toBase58(), 990n],
    ]),
  ])
})

test('Q-213: more currencies than one request takes are held, and keep nobody else from being read', async () => {
  const address = anAddress()
  await payCoin(bed, address)
  await payToken(bed, address, { mint: bed.mint, program: tokenProgram })
  const others = Array.from({ length: 100 }, () => ({ address: anAddress() }))
  const currencies = [{ address: sol }, ...others, { address: bed.mint.toBase58() }]
  const addresses = addressesOf()
  const held = new Map([
    [sol, 1_000_000n],
    [bed.mint.toBase58(), 1_000n],
  ])
  expect(await addresses.held([address], { ...question(), currencies }, signal())).toEqual([held])
  expect(await addresses.held([address], question(), signal())).toEqual([held])
})

test('Q-213: what one endpoint shows alone, or hides, changes nothing, and what none agrees on keeps nobody else', async () => {
  const proxies = await proxiesOf(bed, 3)
  const addresses = addressesOf(proxies.map(({ url }) => url))
  const [paid, unpaid] = [anAddress(), anAddress()]
  await payCoin(bed, paid)
  const honest = [new Map([[sol, 1_000_000n]]), new Map()]
  const shown = (change: (account: object | null, index: number) => unknown) => ({
    kind: 'lie' as const,
    rewrite: (call: { readonly method: string }, result: unknown) =>
      call.method === 'getMultipleAccounts'
        ? { ...Object(result), value: Object(result).value.map(change) }
        : result,
  })
  for (const lie of [shown(() => null), shown((account) => account && { ...account, lamports: 2 ** 50 })]) {
    await proxies[0]?.set(lie)
    expect(await addresses.held([paid, unpaid], question(), signal())).toEqual(honest)
  }
  // Each shows something else of the first address, as where its balance changes with every slot.
  const moving = anAddress()
  await payCoin(bed, moving)
  await Promise.all(
    proxies.map((proxy, one) =>
      proxy.set(
        shown((account, at) => (at === 0 && account ? { ...account, lamports: 10 ** 6 + one } : account)),
      ),
    ),
  )
  expect(await addresses.held([moving, paid, unpaid], question(), signal())).toEqual([new Map(), ...honest])
})

test('silence of two endpoints is an error, and not an empty address', async () => {
  const proxies = await proxiesOf(bed, 3)
  const addresses = addressesOf(proxies.map(({ url }) => url))
  await Promise.all(proxies.slice(0, 2).map((proxy) => proxy.set({ kind: 'refuse' })))
  await expect(addresses.held([anAddress()], question(), signal())).rejects.toMatchObject({
    kind: 'upstream_unavailable',
  })
})

test('whoever signed or had less afterwards brought it, as far back as the address was empty', async () => {
  const [address, before, payer, other] = [anAddress(), aPayer(), aPayer(), aPayer()]
  await payCoin(bed, address, 1_000_000n, before)
  const who = async () => addressesOf().payers?.(address, question(), signal())
  await payCoin(bed, address, 2_000_000n, payer)
  await bed.send(
    [
      SystemProgram.transfer({
        fromPubkey: other.publicKey,
        toPubkey: new PublicKey(address),
        lamports: 1_000_000,
      }),
    ],
    { signers: [bed.user, other] },
  )
  const named = [before, payer, other, bed.user].map(({ publicKey }) => publicKey.toBase58()).sort()
  expect(await who()).toEqual(named)
  const tokens = anAddress()
  await payToken(bed, tokens, { mint: bed.mint, program: tokenProgram })
  expect(await addressesOf().payers?.(tokens, question(), signal())).toEqual([bed.user.publicKey.toBase58()])
  expect(await addressesOf().payers?.(anAddress(), question(), signal())).toEqual([])
})

test('who paid before the address was emptied did not bring what lies there now', async () => {
  const [owner, before, after] = [Keypair.generate(), aPayer(), aPayer()]
  const address = owner.publicKey.toBase58()
  await payCoin(bed, address, 1_000_000n, before)
  await bed.send(
    [
      SystemProgram.transfer({
        fromPubkey: owner.publicKey,
        toPubkey: bed.user.publicKey,
        lamports: 1_000_000,
      }),
    ],
    { signers: [bed.user, owner] },
  )
  await payCoin(bed, address, 3_000_000n, after)
  expect(await addressesOf().payers?.(address, question(), signal())).toEqual([after.publicKey.toBase58()])
  await payCoin(bed, address, 2_000n, aPayer())
  const { height, currencies } = question()
  const [currency] = currencies
  if (currency === undefined) throw new Error('coin is asked for')
  // neither what was there before nor dust takes its place.
  expect(await addressesOf().transfer?.(address, { currency, height }, signal())).toMatchObject({
    amount: 3_000_000n,
    from: after.publicKey.toBase58(),
  })
})

test('F-5: a payer is found behind many small payments, and is never taken for absent', async () => {
  const [address, hidden] = [anAddress(), aPayer()]
  await payCoin(bed, address, 5_000_000n, hidden)
  const dust = [...Array(10)].map((_, at) =>
    SystemProgram.transfer({
      fromPubkey: bed.user.publicKey,
      toPubkey: new PublicKey(address),
      lamports: at + 1,
    }),
  )
  for (let sent = 0; sent < 100; sent += 1) await bed.send(dust.slice(0, 1 + (sent % 10)))
  const within = await addressesOf().payers?.(address, question(), signal())
  expect(within).toContain(hidden.publicKey.toBase58())
  for (let sent = 0; sent < 150; sent += 1) await bed.send(dust.slice(0, 1 + (sent % 10)))
  const addresses = addressesOf()
  const look = () => addresses.payers?.(address, question(), signal())
  expect(await look()).toBe('reading')
  // More comes while it is read.
  const meanwhile = aPayer()
  await payCoin(bed, address, 3_000_000n, meanwhile)
  expect(await look()).toEqual(
    [hidden, meanwhile, bed.user].map(({ publicKey }) => publicKey.toBase58()).sort(),
  )
}, 60_000)

test('F-5: a payer is found behind a thousand transactions that failed', async () => {
  const [address, hidden] = [anAddress(), aPayer()]
  await payCoin(bed, address, 5_000_000n, hidden)
  const slot = Number(bed.node.slot('confirmed'))
  const failed = Array.from({ length: 1_000 }, (_, index) => {
    const bytes = new Uint8Array(64).fill(1)
    new DataView(bytes.buffer).setUint32(0, index)
    return {
      signature: encodeBase58(bytes),
      slot,
      err: 'AccountInUse',
      confirmationStatus: 'confirmed',
    }
  })
  const [proxy] = await proxiesOf(bed, 1)
  await proxy?.set({
    kind: 'lie',
    rewrite: ({ method, params }, result) =>
      method === 'getSignaturesForAddress' && Object(params[1]).before === undefined ? failed : result,
  })
  const addresses = addressesOf(proxy && [proxy.url])
  expect(await addresses.payers?.(address, question(), signal())).toEqual([hidden.publicKey.toBase58()])
})

test('F-5: a payer whose listed transaction too few endpoints show is waited for', async () => {
  const proxies = await proxiesOf(bed, 3)
  const addresses = addressesOf(proxies.map(({ url }) => url))
  const [address, hidden] = [anAddress(), aPayer()]
  await payCoin(bed, address, 5_000_000n)
  const transactionId = await payCoin(bed, address, 2_000_000n, hidden)
  const asked = question()
  for (const proxy of proxies.slice(1))
    await proxy.set({
      kind: 'lie',
      rewrite: ({ method, params }, result) =>
        method === 'getTransaction' && params[0] === transactionId ? null : result,
    })
  const look = () => addresses.payers?.(address, asked, signal())
  await expect(look()).rejects.toMatchObject({ kind: 'upstream_unavailable' })
  await proxies[1]?.set({ kind: 'pass' })
  expect(await look()).toEqual([hidden, bed.user].map(({ publicKey }) => publicKey.toBase58()).sort())
})

test('an endpoint that hides a payer, or names one, is outvoted', async () => {
  const proxies = await proxiesOf(bed, 3)
  const addresses = addressesOf(proxies.map(({ url }) => url))
  const [address, payer] = [anAddress(), aPayer()]
  await payCoin(bed, address, 2_000_000n, payer)
  const asked = question()
  for (const method of ['getSignaturesForAddress', 'getTransaction']) {
    await proxies[0]?.set({
      kind: 'lie',
      rewrite: (call, result) =>
        call.method !== method ? result : method === 'getTransaction' ? null : Object(result).slice(1),
    })
    expect(await addresses.payers?.(address, asked, signal())).toEqual([payer.publicKey.toBase58()])
  }
})
