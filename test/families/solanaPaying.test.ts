// Goal: on Solana a payment is remembered by an account that nobody else can make or unmake, and reaches whom it names or
// nobody. Who gains by breaking it: a user who is paid twice, a stranger who has a payment taken for made, whoever is given
// rent again and again. Method: the real runtime with three endpoints, of which one lies.
import type { Hex } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { markBytes, paymentMarkerAddress, systemProgram, tokenProgram } from '@causeway/families/rules'
import type { FaultMode, FaultProxy } from '@causeway/localnet'
import { createTokenAccount, mintTo, tokenAccount } from '@causeway/localnet/standIns/solana'
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { keccak256 } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type {
  PayingChain,
  PaymentPlan,
  PaymentTerms,
  PlannedPayment,
} from '../../packages/families/src/shared/payingChain.ts'
import {
  bid,
  type FillWalletBed,
  fees,
  startFillWalletBed,
  walletKey,
} from './solanaSupport/fillWalletBed.ts'
import { aSignal, readerOf, type SolanaBed } from './solanaSupport/solanaBed.ts'

const wallet = Keypair.fromSeed(Buffer.from(walletKey.slice(2), 'hex'))
const sol = solanaCodec.nativeCurrency
let bed: SolanaBed
let proxies: readonly FaultProxy[]
let cluster: FillWalletBed
let openWallet: FillWalletBed['openWallet']
let chain: PayingChain
let count = 0

beforeAll(async () => {
  cluster = await startFillWalletBed()
  ;({ bed, proxies, openWallet } = cluster)
  chain = openWallet()
  const to = await heldBy(wallet.publicKey)
  const authority = bed.user.publicKey
  await bed.send([mintTo({ mint: bed.mint, to, authority, amount: 10n ** 9n })])
  bed.node.tick(1_790_000_000n)
})
afterEach(() => Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' }))))
afterAll(() => cluster?.stop())

async function heldBy(owner: PublicKey): Promise<PublicKey> {
  await bed.send([createTokenAccount({ payer: bed.user.publicKey, owner, mint: bed.mint })])
  return tokenAccount(owner, bed.mint)
}

function aPayment(change: Partial<PlannedPayment> = {}): PlannedPayment {
  return {
    recipient: Keypair.generate().publicKey.toBase58(),
    currency: sol,
    amount: 2_000_000n,
    ...change,
  }
}
function termsOf(payments: readonly PlannedPayment[] = [aPayment()], id = freshId()): PaymentTerms {
  return { id, orderId: id, mark: 'paid', payments }
}
function freshId(): Hex {
  count += 1
  return `0x${count.toString(16).padStart(64, 'f')}`
}
async function planned(terms: PaymentTerms, by = chain): Promise<PaymentPlan> {
  const plan = await by.plan(terms, bid)
  if ('refusal' in plan) throw new Error(plan.refusal)
  return plan
}
async function pay(terms: PaymentTerms, by = chain) {
  const signed = await by.sign(await planned(terms, by), bid)
  await by.broadcast(signed)
  return signed
}
const lamportsOf = async (address: string) => BigInt(await bed.connection.getBalance(new PublicKey(address)))
const recipientOf = ({ payments }: PaymentTerms) => payments[0]?.recipient ?? ''
/** Written again, so that a change of the seed, which forgets all that was paid, is seen. */
const seedOf = (id: Hex) => keccak256(id).slice(2, 34)
const stateOf = async (id: Hex) => (await chain.readFinal(id)).state
const lie = (method: string, rewrite: (result: Record<string, unknown>) => unknown): FaultMode => ({
  kind: 'lie',
  rewrite: (call, result) => (call.method === method ? rewrite({ ...Object(result) }) : result),
})

test('a payment of coin, and of tokens into an account that it makes, costs its fee and rent, and is attested', async () => {
  const recipient = Keypair.generate().publicKey.toBase58()
  const mint = bed.mint.toBase58()
  const payments = [
    aPayment({ recipient, amount: 1_500_000n }),
    aPayment({ recipient, currency: mint, amount: 77n }),
  ]
  const terms = termsOf(payments)
  const before = await lamportsOf(chain.address)
  const plan = await planned(terms)
  const { hash, raw, fee } = await chain.sign(plan, bid)
  await chain.broadcast({ raw })
  expect(before - (await lamportsOf(chain.address))).toBe(1_500_000n + plan.rent + fee)
  expect(await chain.readFinal(terms.id)).toEqual({ state: 'paid', timestampSeconds: 1_790_000_000 })
  const question = { extraData: '0x' as const, transactionId: hash, orderId: terms.id, payments }
  expect(await readerOf(bed).reader.readPayment(question, aSignal())).toMatchObject({
    referencesOrder: true,
    transfers: [
      { recipient, currency: sol, amount: 1_500_000n },
      { recipient, currency: mint, amount: 77n },
    ],
  })
  const other = { ...question, orderId: freshId() }
  expect(await readerOf(bed).reader.readPayment(other, aSignal())).toMatchObject({ referencesOrder: false })
})

test('F-145: makes no state where nobody was charged for it: it is refused, and fails', async () => {
  const owner = Keypair.generate()
  bed.node.airdrop(owner.publicKey.toBase58(), 10n ** 9n)
  const payments = [
    aPayment({ recipient: owner.publicKey.toBase58(), currency: bed.mint.toBase58(), amount: 7n }),
  ]
  const terms = { ...termsOf(payments), makesNoState: true }
  expect(await chain.plan(terms, bid)).toEqual({ refusal: 'the recipient has no account of the token' })
  const held = await heldBy(owner.publicKey)
  const plan = await planned(terms)
  expect(plan.rent).toBe(fees.rentOf({ stateBytes: markBytes.paid }))
  // The owner who closes the account keeps the rent, and would be given it again.
  const keys = [held, owner.publicKey].map((pubkey) => ({ pubkey, isSigner: false, isWritable: true }))
  const signing = { pubkey: owner.publicKey, isSigner: true, isWritable: false }
  const programId = new PublicKey(tokenProgram)
  const close = new TransactionInstruction({ programId, keys: [...keys, signing], data: Buffer.from([9]) })
  await bed.send([close], { signers: [bed.user, owner] })
  const before = await lamportsOf(chain.address)
  await expect(chain.broadcast(await chain.sign(plan, bid))).rejects.toThrow()
  expect(bed.node.account(held.toBase58(), 'processed')).toBeUndefined()
  expect(await lamportsOf(chain.address)).toBe(before)
})

describe.each([
  ['fill', {}],
  ['refund', { makesNoState: true }],
])('a %s in tokens to an account that its owner hands to somebody else', (_kind, state) => {
  async function handedOver() {
    const owner = Keypair.generate()
    bed.node.airdrop(owner.publicKey.toBase58(), 10n ** 9n)
    const held = await heldBy(owner.publicKey)
    const recipient = owner.publicKey.toBase58()
    const payments = [aPayment({ recipient, currency: bed.mint.toBase58(), amount: 7n })]
    return {
      terms: { ...termsOf(payments), ...state },
      async hand() {
        // SetAuthority: the account's owner.
        const data = Buffer.concat([Buffer.of(6, 2, 1), Keypair.generate().publicKey.toBuffer()])
        const keys = [
          { pubkey: held, isSigner: false, isWritable: true },
          { pubkey: owner.publicKey, isSigner: true, isWritable: false },
        ]
        const programId = new PublicKey(tokenProgram)
        const instruction = new TransactionInstruction({ programId, keys, data })
        await bed.send([instruction], { signers: [bed.user, owner] })
      },
      amount: async () => BigInt((await bed.connection.getTokenAccountBalance(held)).value.amount),
    }
  }

  test('P-47: is refused before it is signed', async () => {
    const { terms, hand } = await handedOver()
    await hand()
    expect(await chain.plan(terms, bid)).toEqual({
      refusal: 'the recipient has handed its account of the token on to somebody else',
    })
  })

  test('P-47: pays nobody where it is handed over after that', async () => {
    const { terms, hand, amount } = await handedOver()
    const signed = await chain.sign(await planned(terms), bid)
    await hand()
    bed.node.send(Buffer.from(signed.raw.slice(2), 'hex'), { skipPreflight: true })
    expect(await chain.landingOf([signed])).toMatchObject({ succeeded: false, isFinal: true })
    expect(await amount()).toBe(0n)
  })
})

test('L-37: a second payment of one id fails, also where its trial is a lie', async () => {
  const terms = termsOf()
  await pay(terms)
  expect(await openWallet().plan(terms, bid)).toEqual({ refusal: 'the transaction would revert' })
  // And where its simulation is a lie, the chain fails it.
  const plan = { terms: { ...terms, payments: [...terms.payments] }, units: 50_000n }
  const again = await openWallet().sign(plan, bid)
  bed.node.send(Buffer.from(again.raw.slice(2), 'hex'), { skipPreflight: true })
  expect(await chain.landingOf([again])).toMatchObject({ succeeded: false, isFinal: true })
  expect(await lamportsOf(recipientOf(terms))).toBe(2_000_000n)
})

describe('a marker', () => {
  // Goal of an attacker: have an order taken for paid, so that neither the order nor its refund is paid.
  test.each([1n, 10n ** 9n])(
    'to which a stranger sent %s lamports is open, and the payment is made',
    async (sent) => {
      const terms = termsOf()
      const marker = paymentMarkerAddress(chain.address, terms.id)
      // Less than an account must have does not land; from nowhere it is there all the same.
      bed.node.airdrop(marker, sent)
      bed.node.tick(1_790_000_000n)
      expect(await stateOf(terms.id)).toBe('open')
      await pay(terms)
      expect(await stateOf(terms.id)).toBe('paid')
      expect(await lamportsOf(recipientOf(terms))).toBe(2_000_000n)
    },
  )

  test('is made by nobody who has not the key of the wallet', async () => {
    const id = freshId()
    const marker = new PublicKey(paymentMarkerAddress(chain.address, id))
    for (const isSigner of [true, false]) {
      const { data, keys } = allocation(id)
      const instruction = new TransactionInstruction({
        programId: SystemProgram.programId,
        data,
        keys: keys.map((one) => (one.pubkey.equals(wallet.publicKey) ? { ...one, isSigner } : one)),
      })
      await expect(bed.send([instruction])).rejects.toThrow()
    }
    expect(bed.node.account(marker.toBase58(), 'finalized')).toBeUndefined()
  })

  test('is unmade by nobody, not even with the key: an account with bytes gives nothing away', async () => {
    const terms = termsOf()
    await pay(terms)
    const marker = new PublicKey(paymentMarkerAddress(chain.address, terms.id))
    const seed = seedOf(terms.id)
    const lamports = bed.node.rentExemption(markBytes.paid)
    const emptying = (fromPubkey: PublicKey, own: string) =>
      SystemProgram.transfer({
        fromPubkey,
        basePubkey: wallet.publicKey,
        toPubkey: wallet.publicKey,
        lamports,
        seed: own,
        programId: SystemProgram.programId,
      })
    // Without bytes it can be emptied: what is refused below is refused for them.
    const other = freshId()
    const unmarked = paymentMarkerAddress(chain.address, other)
    bed.node.airdrop(unmarked, lamports)
    await bed.send([emptying(new PublicKey(unmarked), seedOf(other))], { signers: [wallet] })
    const emptied = emptying(marker, seed)
    const assigned = SystemProgram.assign({
      accountPubkey: marker,
      basePubkey: wallet.publicKey,
      seed,
      programId: new PublicKey(bed.forwarder),
    })
    const larger = SystemProgram.allocate({
      accountPubkey: marker,
      basePubkey: wallet.publicKey,
      seed,
      space: 2,
      programId: SystemProgram.programId,
    })
    for (const instruction of [emptied, assigned, larger])
      await expect(bed.send([instruction], { signers: [wallet] })).rejects.toThrow()
    expect(await stateOf(terms.id)).toBe('paid')
  })

  function allocation(id: Hex) {
    const marker = new PublicKey(paymentMarkerAddress(chain.address, id))
    const data = SystemProgram.allocate({
      accountPubkey: marker,
      basePubkey: wallet.publicKey,
      space: markBytes.paid,
      seed: seedOf(id),
      programId: SystemProgram.programId,
    })
    return data
  }
})

describe('what is refused before anything is signed', () => {
  test.each<[string, () => Partial<PlannedPayment>, RegExp]>([
    [
      'a token account',
      () => ({ recipient: tokenAccount(bed.user.publicKey, bed.mint).toBase58() }),
      /key|token account/,
    ],
    ['a program', () => ({ recipient: bed.forwarder.toBase58() }), /program/],
    ['an address that has no key', () => ({ recipient: bed.depository.addresses.vault }), /key/],
    ['a mint', () => ({ recipient: bed.mint.toBase58() }), /token account/],
    ['less coin than an account needs', () => ({ amount: 1n }), /revert/],
    ['more tokens than there are', () => ({ currency: bed.mint.toBase58(), amount: 10n ** 15n }), /revert/],
    ['a token that keeps a part', () => ({ currency: bed.feeMint.toBase58() }), /keeps a part/],
    ['what is no mint', () => ({ currency: bed.user.publicKey.toBase58() }), /no mint/],
    ['nothing', () => ({ amount: 0n }), /amount/],
    ['more than there can be', () => ({ amount: 2n ** 64n }), /amount/],
  ])('%s', async (_what, change, reason) => {
    const plan = await chain.plan(termsOf([aPayment(change())]), bid)
    expect('refusal' in plan ? plan.refusal : '').toMatch(reason)
  })

  // Nobody can prove by how much such a balance grew: JSON holds no larger number of lamports exactly.
  test('F-143: coin for an account that would hold more than can be counted; tokens reach it', async () => {
    const owner = Keypair.generate().publicKey
    const [recipient, mint] = [owner.toBase58(), bed.mint.toBase58()]
    await heldBy(owner)
    const planOf = (change: object) => chain.plan(termsOf([aPayment({ recipient, ...change })]), bid)
    const refusal = 'the recipient holds more coin than can be counted'
    bed.node.airdrop(recipient, 2n ** 53n - 2n)
    expect(await planOf({ amount: 1n })).toHaveProperty('units')
    expect(await planOf({ amount: 2n })).toEqual({ refusal })
    bed.node.airdrop(recipient, 10n ** 16n)
    expect(await planOf({ amount: 1n })).toEqual({ refusal })
    const one = { owner: systemProgram, executable: false, data: ['', 'base64'], lamports: 1 }
    await proxies[0]?.set(lie('getMultipleAccounts', (result) => ({ ...result, value: [one] })))
    expect(await planOf({ amount: 1n })).toEqual({ refusal })
    await proxies[0]?.set({ kind: 'pass' })
    expect(await planOf({ currency: mint, amount: 1n })).toHaveProperty('units')
  })

  test('F-143: one endpoint of three neither refuses what can be counted nor hides what cannot', async () => {
    const [poor, rich] = [Keypair.generate(), Keypair.generate()].map(({ publicKey }) => publicKey.toBase58())
    const planOf = (recipient = '') => chain.plan(termsOf([aPayment({ recipient })]), bid)
    bed.node.airdrop(poor ?? '', 2_000_000n)
    bed.node.airdrop(rich ?? '', 2n ** 53n - 2n)
    for (const proxy of proxies) {
      const shown = (lamports: number) =>
        lie('getMultipleAccounts', ({ value, ...result }) => ({
          ...result,
          value: Object(value).map((account: object) => ({ ...account, lamports })),
        }))
      await proxy.set(shown(2 ** 53 - 2))
      expect(await planOf(poor)).toHaveProperty('units')
      await proxy.set(shown(2_000_000))
      expect(await planOf(rich)).toEqual({ refusal: 'the recipient holds more coin than can be counted' })
      await proxy.set({ kind: 'pass' })
    }
  })

  test('more payments than fit into one transaction', async () => {
    const plan = await chain.plan(termsOf(Array.from({ length: 30 }, () => aPayment())), bid)
    expect(plan).toEqual({ refusal: 'the transaction is too large' })
  })

  test('what one endpoint of three shows as a plain account', async () => {
    const plain = { lamports: 1, owner: systemProgram, executable: false, data: ['', 'base64'] }
    await proxies[0]?.set(lie('getMultipleAccounts', (result) => ({ ...result, value: [plain] })))
    const plan = await chain.plan(termsOf([aPayment({ recipient: bed.forwarder.toBase58() })]), bid)
    expect('refusal' in plan ? plan.refusal : '').toMatch(/program/)
  })

  test('a token account that is on the curve', async () => {
    const account = Keypair.generate()
    const { data, owner } =
      bed.node.account(tokenAccount(bed.user.publicKey, bed.mint).toBase58(), 'finalized') ?? {}
    if (data === undefined || owner === undefined) throw new Error('the user holds tokens')
    bed.node.place(account.publicKey.toBase58(), { owner, data })
    bed.node.tick(1_790_000_000n)
    const plan = await chain.plan(termsOf([aPayment({ recipient: account.publicKey.toBase58() })]), bid)
    expect(plan).toEqual({ refusal: 'the recipient is a token account' })
  })
})

test('what the wallet holds is its own coin and tokens', async () => {
  expect(await chain.balanceOf(sol)).toBe(await lamportsOf(chain.address))
  expect(await chain.balanceOf(bed.mint.toBase58())).toBeGreaterThan(0n)
  expect(await chain.balanceOf(Keypair.generate().publicKey.toBase58())).toBe(0n)
})
