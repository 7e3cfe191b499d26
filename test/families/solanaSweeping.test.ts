// Goal: a solver empties deposit addresses on Solana once per item, whoever signs how often and with whatever memory, and
// refuses what could not end well before it pays a fee. Who gains by breaking it: a payer who is deposited twice for an
// order, a service that has the wallet sign for nothing, an endpoint that lies about a mint. Method: the program as
// operators deploy it on the real runtime, with three endpoints of which one lies.

import { solanaCodec } from '@causeway/core/encodings'
import {
  deriveProgramAddresses,
  solanaDepositAddress,
  token2022Program,
  tokenProgram,
} from '@causeway/families/rules'
import type { FaultProxy } from '@causeway/localnet'
import { createTokenAccount, tokenAccount } from '@causeway/localnet/standIns/solana'
import { Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type {
  EmptiedAddress,
  PayingChain,
  PaymentTerms,
} from '../../packages/families/src/shared/payingChain.ts'
import { orderSigner, signedOrder } from './solanaSupport/depositOrder.ts'
import { bid, type FillWalletBed, fees, startFillWalletBed } from './solanaSupport/fillWalletBed.ts'
import { payCoin, payToken } from './solanaSupport/plainPayments.ts'
import { aSignal, readerOf, type SolanaBed } from './solanaSupport/solanaBed.ts'

const depositor = Keypair.generate().publicKey
const sol = solanaCodec.nativeCurrency
let bed: SolanaBed
let proxies: readonly FaultProxy[]
let cluster: FillWalletBed
let addressProgram: { readonly program: string; readonly depository: string }
let chain: PayingChain
let count = 0

beforeAll(async () => {
  cluster = await startFillWalletBed()
  ;({ bed, proxies } = cluster)
  addressProgram = {
    program: bed.addressProgram.toBase58(),
    depository: bed.depository.program.toBase58(),
  }
  chain = openWallet()
  bed.node.airdrop(depositor.toBase58(), 10n ** 9n)
  bed.node.tick(1_790_000_000n)
})
afterEach(() => Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' }))))
afterAll(() => cluster?.stop())

/** A process that has the key and remembers nothing. */
const openWallet = ({ hasProgram } = { hasProgram: true }) =>
  cluster.openWallet(hasProgram ? { addressProgram } : {})

function newAddress(changed: { readonly sweeper?: string } = {}) {
  count += 1
  const terms = {
    orderSigner: orderSigner(),
    sweeper: chain.address,
    depositor: depositor.toBase58(),
    nonce: `0x${count.toString(16).padStart(64, '0')}` as const,
    ...changed,
  }
  const { program, depository } = addressProgram
  const addresses = deriveProgramAddresses(depository)
  return solanaDepositAddress(terms, { program, depository: { program: depository, addresses } })
}

function sweepOf(emptied: EmptiedAddress): PaymentTerms {
  count += 1
  return { id: `0x${count.toString(16).padStart(64, 'f')}`, mark: 'paid', payments: [], emptied }
}

/** Terms that sweep an address for an order of its own. */
async function sweepFor(made: ReturnType<typeof newAddress>, currency = sol) {
  const { orderId, signed } = await signedOrder(made.address, depositor.toBase58(), { currency })
  return { orderId, terms: sweepOf({ ...made, currency, signed }) }
}

async function sweep(terms: PaymentTerms, by = chain) {
  const plan = await by.plan(terms, bid)
  if ('refusal' in plan) throw new Error(plan.refusal)
  const signed = await by.sign(plan, bid)
  await by.broadcast(signed)
  return { plan, signed }
}

const refusalOf = async (terms: PaymentTerms, by = chain) => {
  const plan = await by.plan(terms, bid)
  return 'refusal' in plan ? plan.refusal : undefined
}
const lamportsOf = async (address: string) => BigInt(await bed.connection.getBalance(new PublicKey(address)))
describe('a sweep', () => {
  test.each([
    ['SOL', undefined],
    ['a token', tokenProgram],
    ['a token of Token-2022', token2022Program],
  ])(
    'of %s deposits for its order what lay there, and the wallet pays the fee and its mark',
    async (_what, program) => {
      const made = newAddress()
      const mint = program === tokenProgram ? bed.mint : bed.feeMint
      const currency = program === undefined ? sol : mint.toBase58()
      if (program === undefined) await payCoin(bed, made.address)
      else await payToken(bed, made.address, { mint, program })
      const { terms, orderId } = await sweepFor(made, currency)
      const before = await lamportsOf(chain.address)
      const { plan, signed } = await sweep(terms)
      expect(before - (await lamportsOf(chain.address))).toBe(plan.rent + signed.fee)
      expect(plan.units).toBeLessThan(fees.unitsOf({ kind: 'sweep', isNative: program === undefined }))
      const { hash: transactionId } = signed
      const { deposits } = await readerOf(bed).reader.readDeposits({ transactionId }, aSignal())
      expect(deposits).toMatchObject([{ depositId: orderId, currency, depositor: depositor.toBase58() }])
      expect((await chain.readFinal(terms.id)).state).toBe('paid')
    },
  )

  test('Q-217: has an effect once per item, so that what is paid later is not deposited for an old order', async () => {
    const made = newAddress()
    await payCoin(bed, made.address)
    const { terms } = await sweepFor(made)
    const plan = await chain.plan(terms, bid)
    if ('refusal' in plan) throw new Error(plan.refusal)
    const [first, second] = [await chain.sign(plan, bid), await openWallet().sign(plan, bid)]
    await chain.broadcast(first)
    await payCoin(bed, made.address, 2_000_000n)
    bed.node.mine(1)
    const third = await openWallet().sign(plan, bid)
    for (const again of [second, third])
      if (again.hash !== first.hash) await chain.broadcast(again).catch(String)
    expect(await lamportsOf(made.address)).toBe(2_000_000n)
    expect(await refusalOf(terms)).toBe('the transaction would revert')
    await sweep((await sweepFor(made)).terms)
    expect(await lamportsOf(made.address)).toBe(0n)
  })

  test('back to the depositor pays him alone', async () => {
    const made = newAddress()
    await payCoin(bed, made.address)
    const before = await lamportsOf(depositor.toBase58())
    await sweep(sweepOf({ ...made, currency: sol }))
    expect((await lamportsOf(depositor.toBase58())) - before).toBe(1_000_000n)
  })

  test('of a token back to a depositor without an account of it is refused, and what lies there stays', async () => {
    const made = newAddress()
    await payToken(bed, made.address, { mint: bed.mint, program: tokenProgram })
    const back = sweepOf({ ...made, currency: bed.mint.toBase58() })
    expect(await refusalOf(back)).toBe('the transaction would revert')
    await bed.send([createTokenAccount({ payer: bed.user.publicKey, owner: depositor, mint: bed.mint })])
    await sweep(back)
    const held = await bed.connection.getTokenAccountBalance(tokenAccount(depositor, bed.mint))
    expect(held.value.amount).toBe('1000')
  })
})

describe('what would fail is refused before a fee is paid', () => {
  test('an empty address, other terms, another wallet, a forged order and what is no mint', async () => {
    const [made, other] = [newAddress(), newAddress()]
    const { terms } = await sweepFor(made)
    expect(await refusalOf(terms)).toBe('the transaction would revert')
    await payCoin(bed, made.address)
    const { emptied } = terms
    if (emptied === undefined) throw new Error('a sweep empties')
    const changed = (change: Partial<EmptiedAddress>) => refusalOf(sweepOf({ ...emptied, ...change }))
    expect(await changed({ address: other.address })).toBe('the address has other terms')
    const foreign = newAddress({ sweeper: depositor.toBase58() })
    expect(await changed(foreign)).toBe('another wallet empties the address')
    const { signed } = await signedOrder(made.address, depositor.toBase58(), { isForged: true })
    expect(await changed({ signed })).toBe('the transaction would revert')
    expect(await changed({ currency: depositor.toBase58() })).toBe('a currency is no mint')
    expect(await refusalOf(terms)).toBeUndefined()
  })

  test('anything on a chain whose configuration names no program', async () => {
    const made = newAddress()
    await payCoin(bed, made.address)
    const { terms } = await sweepFor(made)
    expect(await refusalOf(terms, openWallet({ hasProgram: false }))).toBe(
      'the chain has no deposit addresses',
    )
  })

  test('one endpoint that calls a mint something else is outvoted', async () => {
    const made = newAddress()
    await payToken(bed, made.address, { mint: bed.mint, program: tokenProgram })
    const { terms } = await sweepFor(made, bed.mint.toBase58())
    await proxies[0]?.set({
      kind: 'lie',
      rewrite: (call, result) =>
        call.method === 'getMultipleAccounts' ? { ...Object(result), value: [null] } : result,
    })
    await sweep(terms)
    expect((await chain.readFinal(terms.id)).state).toBe('paid')
  })
})
