// Goal: head, fees and the solver's balances of a Solana chain are what enough endpoints have reached, whatever one of
// three says. Who gains by breaking it: an endpoint that makes quotes dear or cheap, that has the solver promise what
// it has not, or that keeps quotes from everybody. Method: the real runtime behind three proxies, one of which lies.

import { Secret } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { depositAddressesCode, SolanaFees, token2022Program } from '@causeway/families/rules'
import { type FaultMode, type FaultProxy, startFaultProxy } from '@causeway/localnet'
import { programBytes } from '@causeway/localnet/standIns/solana'
import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { networkContradictions, openNetworkReaders } from '../../packages/chains/src/chainFamilies.ts'
import type { NetworkReading } from '../../packages/families/src/shared/networkReader.ts'
import type { RegisteredChain } from '../../packages/families/src/shared/registeredChain.ts'
import { programHash } from '../../packages/families/src/solana/quoting/programCode.ts'
import { solanaQuotingChain } from '../../packages/families/src/solana/quoting/solanaQuotingChain.ts'
import type { ChainClient } from '../../packages/rpc/src/client.ts'
import { type SolanaBed, startSolanaBed } from './solanaSupport/solanaBed.ts'

let bed: SolanaBed
let proxies: readonly FaultProxy[]
let client: ChainClient

const sol = solanaCodec.nativeCurrency
const listed = { name: 'n', source: 'test', logoUri: '', permit: 'none', resetsAllowance: false } as const
const nowSeconds = 1_790_000_000n
const paidPrice = 7_000n

beforeAll(async () => {
  bed = await startSolanaBed()
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
  client = solanaQuotingChain.connect(registered())
  const { vault } = bed.depository.addresses
  // More than two fifths of the recent blocks took this price from whoever wrote to the vault.
  for (let count = 0; count < 60; count += 1) {
    await bed.send([
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: paidPrice }),
      SystemProgram.transfer({
        fromPubkey: bed.user.publicKey,
        toPubkey: new PublicKey(vault),
        lamports: 1n + BigInt(count),
      }),
    ])
  }
  bed.node.tick(nowSeconds)
})
afterEach(() => Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' }))))
afterAll(async () => {
  await client?.close()
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await bed?.stop()
})

const registered = (): RegisteredChain => ({
  id: 'solana',
  vmType: 'solana-vm',
  network: undefined,
  hubChainId: '1',
  additionalData: {},
  ready: true,
  rpcThreshold: 2,
  unsetVariables: [],
  depository: bed.depository.program.toBase58(),
  endpoints: proxies.map(({ url }) => new Secret(url)),
})

const currency = (address: string, decimals: number, more: object = {}) => ({
  ...listed,
  address,
  decimals,
  symbol: address.slice(0, 8),
  asset: 'a',
  solver: true,
  ...more,
})

function config(change: { feeModel?: object; currencies?: readonly ReturnType<typeof currency>[] } = {}) {
  return {
    chainId: 792_703_809,
    name: 'solana',
    displayName: 'Solana',
    enabled: true,
    blockTimeMs: 400,
    explorerUrl: '',
    explorerName: '',
    publicRpcUrl: '',
    publicWebsocketUrl: '',
    iconUrl: '',
    headMaxAgeMs: 60_000,
    pinPolicy: [],
    transactionGasMax: 0n,
    fillWallet: bed.user.publicKey.toBase58(),
    feeModel: {
      kind: 'priority-fee' as const,
      percentile: 60,
      markupBps: 1_000,
      minMicroLamportsPerUnit: 1_000n,
      maxMicroLamportsPerUnit: 100_000n,
      ...change.feeModel,
    },
    currencies: [...(change.currencies ?? [currency(sol, 9), currency(bed.mint.toBase58(), 6)])],
  }
}

const limits = () => ({ signal: AbortSignal.timeout(10_000), timeoutMs: 2_000 })

function read(quoted = config()): Promise<NetworkReading> {
  const chains = new Map([['solana', registered()]])
  const readers = openNetworkReaders(chains, { solana: quoted }, new Map([['solana', client]]))
  const reader = readers.get('solana')
  if (reader === undefined) throw new Error('there is no reader')
  return reader.read(limits())
}

async function honest() {
  return {
    head: { number: bed.node.slot('confirmed'), timestampSeconds: Number(nowSeconds) },
    inventory: new Map([
      [sol, BigInt(await bed.connection.getBalance(bed.user.publicKey))],
      [bed.mint.toBase58(), 10n ** 12n],
    ]),
  }
}

const fees = new SolanaFees({
  lamportsPerSignature: 5_000n,
  microLamportsPerUnit: paidPrice,
  rentLamportsPerByte: 6_960n,
})

describe('three honest endpoints', () => {
  test('tell head, balances, the price that recent blocks took, and the rent that the runtime asks', async () => {
    const reading = await read()
    expect(reading).toMatchObject(await honest())
    expect(fees.equals(reading.fees as SolanaFees)).toBe(true)
    expect(reading.shown).toEqual({
      microLamportsPerUnit: '7000',
      ceilingMicroLamportsPerUnit: '100000',
      priceFrom: 'median',
    })
    expect(fees.rentOf({ stateBytes: 165 })).toBe(bed.node.rentExemption(165))
    expect(reading.voices).toEqual({ agreed: 3, required: 2, configured: 3 })
  })

  test('tell nothing where the solver has no account', async () => {
    const stranger = Keypair.generate().publicKey.toBase58()
    const { inventory } = await read({ ...config(), fillWallet: stranger })
    expect([...inventory.values()]).toEqual([0n, 0n])
  })

  test('make nothing quoted above the ceiling, and never less than the floor', async () => {
    const dear = await read(config({ feeModel: { maxMicroLamportsPerUnit: 6_999n } }))
    expect(dear.fees).toEqual({
      reason: 'priority_fee_above_ceiling',
      charge: 'A compute unit',
      cost: 'costs 7000 micro-lamports',
      ceiling: '6999',
    })
    const { shown } = await read(config({ feeModel: { minMicroLamportsPerUnit: 9_000n } }))
    expect(shown).toMatchObject({ microLamportsPerUnit: '9000' })
  })
})

describe('one endpoint of three that', () => {
  const rewrite = (method: string, change: (result: object) => unknown): FaultMode => ({
    kind: 'lie',
    rewrite: (call, result) => (call.method === method ? change(Object(result)) : result),
  })
  const accounts = (change: (account: { readonly lamports: number }, index: number) => unknown) =>
    rewrite('getMultipleAccounts', (result) => ({
      ...result,
      value: Object(result).value.map((account: { lamports: number } | null, index: number) =>
        account === null ? null : change(account, index),
      ),
    }))
  const prices = (price: number) =>
    rewrite('getRecentPrioritizationFees', () => [{ slot: 1, prioritizationFee: price }])
  const slotOf = (slot: number) =>
    rewrite('getMultipleAccounts', (result) => ({ ...result, context: { slot } }))
  const clockOf = (byte: number) =>
    accounts((account, index) =>
      index === 0 ? { ...account, data: [Buffer.alloc(40, byte).toString('base64'), 'base64'] } : account,
    )

  test.each<[string, FaultMode]>([
    ['is a million slots ahead', slotOf(1_000_000)],
    ['is behind all others', slotOf(1)],
    ['is from the future', clockOf(0x11)],
    ['is from the first second', clockOf(0)],
    ['shows riches', accounts((account) => ({ ...account, lamports: 2 ** 52 }))],
    ['shows nothing', accounts((account, index) => (index === 0 ? account : null))],
    ['asks the highest price', prices(2 ** 40)],
    ['asks no price', prices(0)],
    ['asks double rent', rewrite('getMinimumBalanceForRentExemption', () => 890_880 * 2)],
    ['asks no rent', rewrite('getMinimumBalanceForRentExemption', () => 0)],
    ['answers rubbish', rewrite('getMultipleAccounts', () => ({ value: 'x' }))],
  ])('%s changes nothing', async (_what, mode) => {
    await proxies[0]?.set(mode)
    const reading = await read()
    expect(reading).toMatchObject(await honest())
    expect(fees.equals(reading.fees as SolanaFees)).toBe(true)
  })

  test.each<[string, FaultMode]>([
    ['hangs', { kind: 'hang' }],
    ['answers a page', { kind: 'html200' }],
    ['knows no estimates', { kind: 'unsupported', methods: ['getRecentPrioritizationFees'] }],
  ])('%s leaves two estimates, which are too few: the configured price counts', async (_what, mode) => {
    await proxies[0]?.set(mode)
    const reading = await read()
    expect(reading).toMatchObject(await honest())
    expect(reading.shown).toMatchObject({ microLamportsPerUnit: '1000', priceFrom: 'configured' })
  })

  test('is two makes the chain unreadable, and does not change what is read', async () => {
    await Promise.all(proxies.slice(0, 2).map((proxy) => proxy.set({ kind: 'html200' })))
    await expect(read()).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  })
})

describe('a chain that says otherwise than its configuration', () => {
  const found = async (currencies: readonly ReturnType<typeof currency>[], chain = registered()) => {
    const findings = await networkContradictions(chain, config({ currencies }), client, false)
    return findings.map(({ problem }) => problem)
  }

  test('has nothing against what is true, and is a part of a local network', async () => {
    const quoted = config()
    expect(await networkContradictions(registered(), quoted, client, true)).toEqual([])
  })

  test('names what is no mint, other decimals, the other program and a mint that keeps a part', async () => {
    const nobody = Keypair.generate().publicKey.toBase58()
    const fee = bed.feeMint.toBase58()
    expect(await found([currency(sol, 9), currency(nobody, 6)])).toEqual([`${nobody} is no mint`])
    expect(await found([currency(bed.mint.toBase58(), 9)])).toEqual([`${bed.mint.toBase58()} has 6 decimals`])
    expect(await found([currency(fee, 6, { tokenProgram: token2022Program })])).toEqual([
      `${fee} keeps a part of each transfer: it cannot be quoted`,
    ])
    expect(await found([currency(fee, 6)])).toContain(
      `${fee} belongs to the token program ${token2022Program}`,
    )
  })

  test('names a depository without an account of a currency, another cluster and what is no program', async () => {
    const empty = { ...registered(), depository: bed.deployDepository().program.toBase58() }
    expect(await found([currency(bed.mint.toBase58(), 6)], empty)).toEqual([
      expect.stringMatching(/^the depository has no account of .*: make .* first$/),
    ])
    const elsewhere = await found([], { ...registered(), network: sol })
    expect(elsewhere).toHaveLength(3)
    expect(elsewhere[0]).toContain('is on another cluster')
    const nothing = { ...registered(), depository: Keypair.generate().publicKey.toBase58() }
    expect((await found([], nothing))[0]).toContain('shows no program at chains: solana.depository')
  })

  describe('of the program that empties deposit addresses', () => {
    const foundOf = async (depositAddressProgram: string) => {
      const quoted = { ...config(), depositAddressProgram }
      const findings = await networkContradictions(registered(), quoted, client, false)
      return findings.map(({ problem }) => problem)
    }
    const deployed = (name: 'depositAddresses' | 'forwarder'): string => {
      const program = Keypair.generate().publicKey.toBase58()
      bed.node.addProgram(program, programBytes(name))
      return program
    }

    test('has nothing against the one of this release, whatever one endpoint shows', async () => {
      const program = deployed('depositAddresses')
      expect(await foundOf(program)).toEqual([])
      await proxies[0]?.set({ kind: 'html200' })
      expect(await foundOf(program)).toEqual([])
      expect(programHash(programBytes('depositAddresses'))).toBe(depositAddressesCode)
    })

    test('Q-216: names another program, no program, and one that somebody can replace', async () => {
      const [account, other] = [Keypair.generate().publicKey.toBase58(), deployed('forwarder')]
      expect(await foundOf(account)).toEqual([`depositAddressProgram ${account} is no program`])
      expect(await foundOf(other)).toEqual([
        `depositAddressProgram ${other} is not the program of this release: SHA-256 ${programHash(programBytes('forwarder'))}`,
      ])
      const program = deployed('depositAddresses')
      const shown = bed.node.account(program, 'confirmed')
      if (shown === undefined) throw new Error('the program was deployed')
      const place = new PublicKey(shown.data.subarray(4)).toBase58()
      const code = bed.node.account(place, 'confirmed')
      if (code === undefined) throw new Error('a program has bytes')
      const owner = Keypair.generate().publicKey
      const data = Buffer.from(code.data)
      data.writeUInt8(1, 12)
      owner.toBuffer().copy(data, 13)
      // A loader may leave zeros behind a program.
      bed.node.place(place, { owner: code.owner, data: Buffer.concat([data, Buffer.alloc(64)]) })
      expect(await foundOf(program)).toEqual([
        `depositAddressProgram ${program} can be replaced by ${owner.toBase58()}, who could take what lies at addresses: make it final`,
      ])
    })
  })
})
