// Goal: what quotes ask of a Solana chain is true or not known, in time, whatever one endpoint of three says: what a
// user has, what a recipient lacks, and whether somebody else decides what becomes of a payment. Method: the real
// runtime behind three proxies, one of which lies, hangs or answers rubbish.
import { Secret } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { token2022Program } from '@causeway/families/rules'
import { type FaultMode, type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { tokenAccount } from '@causeway/localnet/standIns/solana'
import { placeSolanaWallet, type SolanaWalletName } from '@causeway/localnet/wallets'
import { Keypair, type PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { QuotingChain } from '../../packages/families/src/shared/quotingChain.ts'
import { solanaQuotingChain } from '../../packages/families/src/solana/quoting/solanaQuotingChain.ts'
import { readTokenMint } from '../../packages/families/src/solana/quoting/tokenMint.ts'
import type { ChainClient } from '../../packages/rpc/src/client.ts'
import { type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

let bed: SolanaBed
let proxies: readonly FaultProxy[]
let client: ChainClient
let chain: QuotingChain
let failures: unknown[] = []
const budgetMs = 2_000

beforeAll(async () => {
  bed = await startSolanaBed()
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
})
afterAll(async () => {
  await client?.close()
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await bed?.stop()
})
beforeEach(async () => {
  await Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' })))
  await client?.close()
  failures = []
  client = solanaQuotingChain.connect({
    id: 'solana',
    vmType: 'solana-vm',
    network: undefined,
    hubChainId: '1',
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    endpoints: proxies.map(({ url }) => new Secret(url)),
  })
  chain = solanaQuotingChain.open({
    client,
    multicall3: '0x',
    currentHead: () => undefined,
    now: Date.now,
    budgetMs,
    neededWithinMs: budgetMs,
    onFailure: (error) => failures.push(error),
  })
})

const sol = solanaCodec.nativeCurrency
const exactLamports = 2n ** 53n - 1n
const key = (account: PublicKey) => account.toBase58()
const fresh = () => key(Keypair.generate().publicKey)

/** An endpoint that shows other accounts than there are. */
const showing = (change: (account: object | null) => unknown): FaultMode => ({
  kind: 'lie',
  rewrite: ({ method }, result) =>
    method === 'getMultipleAccounts'
      ? { ...Object(result), value: Object(result).value.map(change) }
      : result,
})
const lies: readonly [string, FaultMode][] = [
  ['shows no account', showing(() => null)],
  ['shows every account as a program', showing((account) => account && { ...account, executable: true })],
  ['shows rubbish', showing(() => ({ owner: 'nobody' }))],
  ['shows too few', { kind: 'lie', rewrite: (_call, result) => ({ ...Object(result), value: [] }) }],
  [
    'shows a mint of other extensions',
    showing((account) => account && { ...account, data: ['AQ==', 'base64'] }),
  ],
  ['hangs', { kind: 'hang' }],
  ['answers a page', { kind: 'html200' }],
  ['knows no such method', { kind: 'unsupported', methods: ['getMultipleAccounts'] }],
]

describe('what a user has', () => {
  test('is told in SOL and in tokens of either program, 0 where there is no account', async () => {
    const user = key(bed.user.publicKey)
    const balance = async (account: string, currency: string) =>
      (await chain.userFacts({ user: account, currency, spender: undefined })).balance
    expect(await balance(user, sol)).toBe(BigInt(await bed.connection.getBalance(bed.user.publicKey)))
    expect(await balance(user, key(bed.mint))).toBe(10n ** 12n)
    expect(await balance(user, key(bed.feeMint))).toBe(10n ** 12n)
    expect(await balance(fresh(), sol)).toBe(0n)
    expect(await balance(fresh(), key(bed.mint))).toBe(0n)
  })

  test('F-98: is no coin for fees where too few endpoints tell of it, and where nobody asks', async () => {
    const fundsOf = async (feePayer?: string) =>
      (await chain.userFacts({ user: fresh(), currency: key(bed.mint), spender: undefined, feePayer }))
        .feeFunds
    expect([await fundsOf(fresh()), await fundsOf()]).toEqual([{ coin: 0n }, undefined])
    await Promise.all(proxies.slice(1).map((proxy) => proxy.set({ kind: 'html200' })))
    expect(await fundsOf(fresh())).toBeUndefined()
  })

  test.each<[SolanaWalletName, object | undefined]>([
    ['plain', undefined],
    ['frozen', { why: 'has a frozen account of the token', isForCalls: false }],
    ['handed-on', { why: 'has handed its account of the token on to somebody else', isForCalls: false }],
    ['guard', { why: 'guards its account of the token against calls', isForCalls: true }],
    ['guard-off', undefined],
    ['memo', undefined],
  ])('F-99: %s pays or not, as enough endpoints show', async (name, lock) => {
    const user = placeSolanaWallet(bed.node, name, { mint: bed.feeMint, amount: 5n })
    const question = { user, currency: key(bed.feeMint), spender: undefined }
    await proxies[0]?.set(showing(() => null))
    expect((await chain.userFacts(question)).inputLock).toEqual(lock)
  })

  test('F-99: is refused by no single endpoint', async () => {
    const question = { user: key(bed.user.publicKey), currency: key(bed.mint), spender: undefined }
    await proxies[0]?.set(
      showing((account) => {
        const data = Buffer.from(Object(account).data[0], 'base64')
        if (data.length === 165) data.writeUInt8(2, 108)
        return { ...account, data: [data.toString('base64'), 'base64'] }
      }),
    )
    expect(await chain.userFacts(question)).not.toHaveProperty('inputLock')
    expect(await chain.userFacts({ ...question, currency: sol })).not.toHaveProperty('inputLock')
  })

  test('is not known for what is no mint', async () => {
    const facts = await chain.userFacts({ user: fresh(), currency: fresh(), spender: undefined })
    expect(facts).toEqual({ held: [] })
  })
})

describe('what a recipient lacks', () => {
  test('is nothing where the account is there, the account itself for SOL, else the bytes that the programs make', async () => {
    const someone = fresh()
    expect(await chain.lackOf(someone, sol)).toEqual({ isAbsent: true })
    expect(await chain.lackOf(key(bed.recipient), sol)).toEqual({})
    expect(await chain.lackOf(key(bed.recipient), key(bed.mint))).toEqual({})
    expect(await chain.lackOf(someone, key(bed.mint))).toEqual({ stateBytes: 165 })
    expect(await chain.lackOf(someone, key(bed.feeMint))).toEqual({ stateBytes: 182 })
    const made = await bed.connection.getAccountInfo(
      tokenAccount(bed.recipient, bed.feeMint, token2022Program),
    )
    expect(made?.data.length).toBe(182)
  })

  // JSON holds no larger number of lamports exactly: what is added to one, no node tells.
  test.each<[bigint, object]>([
    [exactLamports, {}],
    [exactLamports + 1n, { isUncountable: true }],
    [exactLamports + 2n, { isUncountable: true }],
    [2n ** 63n, { isUncountable: true }],
  ])('is a balance that can be counted where it holds %s lamports', async (lamports, lack) => {
    const owner = fresh()
    bed.node.airdrop(owner, lamports)
    expect(await chain.lackOf(owner, sol)).toEqual(lack)
    expect(await chain.lackOf(owner, key(bed.mint))).toEqual({ stateBytes: 165 })
    expect(await chain.hasCode(owner)).toBe(false)
    const { balance } = await chain.userFacts({ user: owner, currency: sol, spender: undefined })
    expect(balance).toBe(lamports <= exactLamports ? lamports : exactLamports + 1n)
    expect(failures).toEqual([])
  })

  test('is an account still where somebody only sent lamports to its address', async () => {
    const owner = Keypair.generate().publicKey
    bed.node.airdrop(key(tokenAccount(owner, bed.mint)), 2_000_000n)
    expect(await chain.lackOf(key(owner), key(bed.mint))).toEqual({ stateBytes: 165 })
  })
})

// Goal of an attacker: ask so often that nodes answer no other user; or be charged by outdated facts.
describe('what was found out', () => {
  test('counts for its time, asks nobody again within it, and everybody after it', async () => {
    let nowMs = Date.now()
    const remembering = solanaQuotingChain.open({
      client,
      multicall3: '0x',
      currentHead: () => undefined,
      now: () => nowMs,
      budgetMs,
      neededWithinMs: budgetMs,
      onFailure: (error) => failures.push(error),
    })
    const owner = Keypair.generate().publicKey
    const asked = () => proxies.reduce((sum, proxy) => sum + proxy.counters().requests, 0)
    const ask = async () => [
      await remembering.lackOf(key(owner), sol),
      await remembering.hasCode(key(owner)),
      (await remembering.userFacts({ user: key(owner), currency: sol, spender: undefined })).balance,
    ]
    expect(await ask()).toEqual([{ isAbsent: true }, false, 0n])
    bed.node.airdrop(key(owner), 2_000_000n)
    const before = asked()
    nowMs += 1_999
    expect(await ask()).toEqual([{ isAbsent: true }, false, 0n])
    expect(asked()).toBe(before)
    nowMs += 1
    expect(await ask()).toEqual([{ isAbsent: true }, false, 2_000_000n])
    nowMs += 8_000
    expect(await ask()).toEqual([{}, false, 2_000_000n])
  })

  test('is asked anew after nobody answered', async () => {
    await Promise.all(proxies.map((proxy) => proxy.set({ kind: 'html200' })))
    const owner = fresh()
    expect([await chain.lackOf(owner, sol), await chain.hasCode(owner)]).toEqual([undefined, undefined])
    await Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' })))
    await expect.poll(() => chain.lackOf(owner, sol)).toEqual({ isAbsent: true })
    expect(await chain.hasCode(owner)).toBe(false)
  })
})

describe('whose code decides', () => {
  test.each<[string, () => string, boolean]>([
    ['a wallet', () => key(bed.recipient), false],
    ['a wallet that nobody has paid yet', fresh, false],
    ['a program', () => key(bed.depository.program), true],
    ['a token account', () => key(tokenAccount(bed.recipient, bed.mint)), true],
    ['an address of a program, which has no key', () => bed.depository.addresses.vault, true],
  ])('of %s', async (_what, account, has) => {
    expect(await chain.hasCode(account())).toBe(has)
  })
})

// Goal of an attacker, as an endpoint: have a sponsor pay rent for an existing account, have a token account paid in
// place of a wallet, or block everyone's quotes.
describe('one endpoint of three that', () => {
  test.each(lies)('%s changes nothing', async (_what, mode) => {
    await proxies[0]?.set(mode)
    expect(await chain.lackOf(key(bed.recipient), key(bed.mint))).toEqual({})
    expect(await chain.lackOf(fresh(), key(bed.feeMint))).toEqual({ stateBytes: 182 })
    expect(await chain.hasCode(key(bed.recipient))).toBe(false)
    expect(await chain.hasCode(key(tokenAccount(bed.recipient, bed.mint)))).toBe(true)
    expect(failures).toEqual([])
  })

  test.each(lies)('F-98: %s takes no coin from who pays the fee', async (_what, mode) => {
    await proxies[0]?.set(mode)
    const feePayer = key(bed.recipient)
    const question = { user: fresh(), currency: key(bed.mint), spender: undefined, feePayer }
    const coin = BigInt(await bed.connection.getBalance(bed.recipient))
    expect((await chain.userFacts(question)).feeFunds).toEqual({ coin })
  })

  test('is a quarter of a second away keeps nobody from what a price needs, nor a price from being answered', async () => {
    await Promise.all(proxies.map((proxy) => proxy.set({ kind: 'latency', delayMs: 250 })))
    const remote = solanaQuotingChain.open({
      client,
      multicall3: '0x',
      currentHead: () => undefined,
      now: Date.now,
      budgetMs: 60,
      neededWithinMs: budgetMs,
      onFailure: () => undefined,
    })
    const wallet = key(bed.recipient)
    const [facts, lack, hasCode] = await Promise.all([
      remote.userFacts({ user: wallet, currency: sol, spender: undefined }),
      remote.lackOf(wallet, sol),
      remote.hasCode(wallet),
    ])
    expect([facts, lack, hasCode]).toEqual([{ held: [] }, {}, false])
  })

  test('is two makes nothing known, within the budget', async () => {
    await Promise.all(proxies.slice(0, 2).map((proxy) => proxy.set({ kind: 'hang' })))
    const beganMs = Date.now()
    expect(await chain.lackOf(fresh(), key(bed.mint))).toBeUndefined()
    expect(Date.now() - beganMs).toBeLessThan(budgetMs + 1_000)
    expect(failures).toHaveLength(1)
  })
})

describe('a mint', () => {
  const shown = async (mint: PublicKey) => {
    const account = await bed.connection.getAccountInfo(mint)
    if (account === null) throw new Error('there is no such account')
    return readTokenMint(key(account.owner), account.data)
  }

  test('that keeps a part of each transfer is told apart, another is plain', async () => {
    expect(await shown(bed.mint)).toMatchObject({ decimals: 6, accountBytes: 165, refusal: undefined })
    expect(await shown(bed.feeMint)).toMatchObject({ decimals: 6, refusal: 'keeps a part of each transfer' })
  })

  test('is no token account, and no account of another program', async () => {
    expect(await shown(tokenAccount(bed.recipient, bed.mint))).toBeUndefined()
    expect(await shown(tokenAccount(bed.recipient, bed.feeMint, token2022Program))).toBeUndefined()
    expect(await shown(bed.recipient)).toBeUndefined()
  })
})

// Goal of an attacker: with an account that endpoints disagree about or cannot read, spoil quotes of the same moment;
// or flood with first-seen accounts.
describe('questions of one moment', () => {
  const countOf = () => proxies.map((proxy) => proxy.counters().callsByMethod['getMultipleAccounts'])
  const other = Keypair.generate().publicKey
  const spoilt = (index: number): FaultMode => ({
    kind: 'lie',
    rewrite: ({ method, params }, result) => {
      const [asked] = Object(params)
      if (method !== 'getMultipleAccounts') return result
      const value = Object(result).value.map((account: unknown, place: number) =>
        asked[place] === key(other) ? { lamports: index } : account,
      )
      return { ...Object(result), value }
    },
  })

  test('cost each endpoint one request in a hundred', async () => {
    for (const proxy of proxies) proxy.resetCounters()
    const asked = Array.from({ length: 150 }, fresh)
    const lacks = await Promise.all(asked.map((account) => chain.lackOf(account, sol)))
    expect(lacks).toEqual(asked.map(() => ({ isAbsent: true })))
    expect(countOf()).toEqual([2, 2, 2])
  })

  test('of a known mint leave with those that need none', async () => {
    await chain.lackOf(fresh(), key(bed.mint))
    for (const proxy of proxies) proxy.resetCounters()
    const [one, other] = [fresh(), fresh()]
    const answers = await Promise.all([chain.hasCode(one), chain.lackOf(other, key(bed.mint))])
    expect(answers).toEqual([false, { stateBytes: 165 }])
    expect(countOf()).toEqual([1, 1, 1])
  })

  test('are answered each by itself: an account that nobody can read spoils none', async () => {
    await Promise.all(proxies.map((proxy, index) => proxy.set(spoilt(index))))
    const [spoiled, ...others] = await Promise.all([
      chain.hasCode(key(other)),
      chain.hasCode(key(bed.recipient)),
      chain.hasCode(key(bed.depository.program)),
    ])
    expect([spoiled, ...others]).toEqual([undefined, false, true])
  })

  test('do not wait for a late endpoint about which another account disagrees', async () => {
    await proxies[0]?.set(spoilt(0))
    await proxies[2]?.set({ kind: 'hang' })
    const beganMs = Date.now()
    const disputed = chain.hasCode(key(other))
    expect(await chain.hasCode(key(bed.recipient))).toBe(false)
    expect(Date.now() - beganMs).toBeLessThan(budgetMs / 2)
    // Nor do those that ask while that one is still out.
    expect(await chain.hasCode(key(bed.depository.program))).toBe(true)
    expect(Date.now() - beganMs).toBeLessThan(budgetMs / 2)
    expect(await disputed).toBeUndefined()
  })

  test('beyond what waits at most are not known at once, and the next ones are', async () => {
    await Promise.all(proxies.map((proxy) => proxy.set({ kind: 'latency', delayMs: 500 })))
    const asked = Array.from({ length: 3_000 }, fresh)
    const flood = await Promise.all(asked.map((account) => chain.lackOf(account, sol)))
    const known = flood.filter((lack) => lack !== undefined).length
    expect(known).toBeGreaterThan(0)
    expect(known).toBeLessThanOrEqual(1_000)
    await Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' })))
    expect(await chain.lackOf(fresh(), sol)).toEqual({ isAbsent: true })
  })
})
