// Goal: what quotes know of a Tron chain is what enough of its nodes have: prices, balances, allowances, and what tokens
// take. Who gains by breaking it: an endpoint that says an allowance or a balance, one that makes energy cheap or dear, a
// stranger who makes a holder of the account that energy is measured with, an operator who names a contract of another
// network. Method: three facades of one chain of contracts, of which one lies.
import { Secret } from '@causeway/core'
import { tronAddress, tronHexAddress } from '@causeway/core/encodings'
import { TronFees, usualTokenEnergy } from '@causeway/families/rules'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import { placeEvmWallet } from '@causeway/localnet/wallets'
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type {
  NetworkReaderOptions,
  NetworkReading,
} from '../../packages/families/src/shared/networkReader.ts'
import type { QuotingChain } from '../../packages/families/src/shared/quotingChain.ts'
import type { RegisteredChain } from '../../packages/families/src/shared/registeredChain.ts'
import { tronQuotingChain } from '../../packages/families/src/tron/quoting/tronQuotingChain.ts'
import type { ChainClient } from '../../packages/rpc/src/client.ts'
import { chainId, startTronBed, type TronBed, trx } from './tronSupport/tronBed.ts'

let bed: TronBed
let nodes: readonly FaultyService[]
const prices = { sunPerEnergy: 210, sunPerByte: 1_000 }
const stakedEnergy = new Map([[`0x${'5e'.repeat(20)}`, 50_001]])
const wallet = tronAddress(`0x${'5e'.repeat(20)}`)
const stranger = tronAddress(`0x${'57'.repeat(20)}`)

beforeAll(async () => {
  bed = await startTronBed()
  nodes = await Promise.all([1, 2, 3].map(() => bed.startFacade({ prices, stakedEnergy })))
  await bed.evm.node('anvil_setBalance', [tronHexAddress(wallet), '0x1312d00'])
  const args = [tronHexAddress(wallet), 9_000_000n] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await bed.evm.send(bed.user, bed.evm.deployment.tokens.USDC, data)
}, 60_000)
afterEach(() => {
  for (const node of nodes ?? []) node.set({ kind: 'none' })
  prices.sunPerEnergy = 210
})
afterAll(async () => {
  await Promise.all((nodes ?? []).map((node) => node.stop()))
  await bed?.stop()
})

function connect(urls = nodes.map(({ url }) => url)): ChainClient {
  const chain: RegisteredChain = {
    id: 'tron',
    vmType: 'tron-vm',
    network: undefined,
    hubChainId: `${chainId}`,
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    depository: bed.depository,
    endpoints: urls.map((url) => new Secret(url)),
  }
  const client = tronQuotingChain.connect(chain)
  onTestFinished(() => client.close())
  return client
}

function open(urls?: readonly string[]): QuotingChain {
  return tronQuotingChain.open({
    client: connect(urls === undefined ? undefined : [...urls]),
    multicall3: undefined,
    currentHead: () => undefined,
    budgetMs: 5_000,
    neededWithinMs: 5_000,
    now: () => Date.now(),
    onFailure: () => undefined,
  })
}

/** One node says so of every constant call. */
const saying = (words: string) => ({
  kind: 'lie' as const,
  rewrite: (path: string, body: unknown) =>
    path.endsWith('triggerconstantcontract') ? { ...Object(body), constant_result: [words] } : body,
})

describe('an account', () => {
  test('is told as enough nodes have it: coin, a token, and what may be taken of it', async () => {
    const spender = bed.depository
    const asked = { user: bed.user.address, currency: bed.usdc, spender }
    const user = tronAddress(bed.user.address)
    nodes[0]?.set(saying('f'.repeat(64)))
    const facts = await open().userFacts({ ...asked, user })
    expect(facts).toMatchObject({ allowance: 0n })
    expect(facts.balance).toBeGreaterThan(0n)
    expect(await open().userFacts({ user: wallet, currency: trx, spender: undefined })).toMatchObject({
      balance: 20_000_000n,
    })
    expect(await open().userFacts({ user: trx, currency: trx, spender: undefined })).toEqual({ held: [] })
  })

  test('F-98: has coin and own energy for fees, as enough nodes have them', async () => {
    const fundsOf = async (feePayer?: string) => {
      const asked = { user: wallet, currency: bed.usdc, spender: undefined }
      return (await open().userFacts({ ...asked, ...(feePayer !== undefined && { feePayer }) })).feeFunds
    }
    const energy = (change: object) => ({
      kind: 'lie' as const,
      rewrite: (path: string, body: unknown) =>
        path.endsWith('getaccountresource') ? { ...Object(body), ...change } : body,
    })
    expect(await fundsOf(wallet)).toEqual({ coin: 20_000_000n, units: 50_000n })
    expect(await fundsOf(stranger)).toEqual({ coin: 0n, units: 0n })
    expect(await fundsOf()).toBeUndefined()
    // It grows with each block: nodes at different ones name different amounts, and one that names more is alone.
    nodes[0]?.set(energy({ EnergyLimit: 10 ** 9 }))
    nodes[1]?.set(energy({ EnergyUsed: 11 }))
    const { units = 0n } = (await fundsOf(wallet)) ?? {}
    expect(units === 50_000n || units === 49_990n).toBe(true)
    for (const node of nodes.slice(0, 2)) node.set(energy({ EnergyLimit: 'all' }))
    expect(await fundsOf(wallet)).toBeUndefined()
  })

  test('of which nodes contradict each other is unknown', async () => {
    nodes[0]?.set(saying('1'.padStart(64, '0')))
    nodes[1]?.set(saying('2'.padStart(64, '0')))
    const facts = await open().userFacts({ user: wallet, currency: bed.usdc, spender: bed.depository })
    expect(facts).toEqual({ held: [] })
  })

  test('lacks itself until somebody pays it, and a balance of a token until it has one', async () => {
    const chain = open()
    expect(await chain.lackOf(stranger, trx)).toEqual({ isAbsent: true })
    expect(await chain.lackOf(stranger, bed.usdc)).toEqual({ holdsNone: true })
    expect([await chain.lackOf(wallet, trx), await chain.lackOf(wallet, bed.usdc)]).toEqual([{}, {}])
    expect([await chain.hasCode(bed.usdc), await chain.hasCode(wallet)]).toEqual([true, false])
  })
})

// Goal of an attacker: as the payee, or the issuer of the token, refuse the payment so that an order blocks.
describe('a payment that is tried out', () => {
  const account = (byte: string) => tronAddress(`0x${byte.repeat(20)}`)
  const [plain, keeps, refuses] = [account('a1'), account('a2'), account('a3')]

  beforeAll(async () => {
    const { tokens, fillContract } = bed.evm.deployment
    const allowed = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'approve',
      args: [fillContract, maxUint256],
    })
    await bed.evm.send(bed.user, tokens.USDC, allowed)
    await bed.evm.node('anvil_setCode', [tronHexAddress(keeps), '0x00'])
    await bed.evm.node('anvil_setCode', [tronHexAddress(refuses), '0x5f5ffd'])
  })

  const tried = (payee: string, currency: string, amount = 5n, from = bed.user.address) =>
    open().tryPayment?.({
      account: payee,
      currency,
      amount,
      fill: () => ({
        from,
        to: bed.evm.deployment.fillContract,
        data: '0x',
        value: 0n,
        token: undefined,
        hasCalls: false,
      }),
    })

  test('Q-62: is taken by accounts with code and without, and refused where the code refuses it', async () => {
    for (const [payee, currency] of [
      [plain, trx],
      [plain, bed.usdc],
      [keeps, trx],
      [keeps, bed.usdc],
      [refuses, bed.usdc],
    ] as const)
      expect(await tried(payee, currency)).toMatchObject({ refusal: undefined })
    expect(await tried(refuses, trx)).toEqual({ refusal: expect.stringMatching(/./) })
  })

  test('Q-62: is refused where the token lets nobody pay the account', async () => {
    const token = bed.evm.deployment.tokens.USDC
    const code = await bed.evm.node('eth_getCode', [token, 'latest'])
    const listed = await placeEvmWallet(bed.evm.network.chains.base.chain, 'blocked', token)
    expect(await tried(tronAddress(listed), bed.usdc)).toEqual({ refusal: expect.stringMatching(/./) })
    expect(await tried(plain, bed.usdc)).toMatchObject({ refusal: undefined })
    await bed.evm.node('anvil_setCode', [token, code])
  })

  test('F-99: is tried of a holder whom the token may list, and one node alone refuses nobody', async () => {
    const token = bed.evm.deployment.tokens.USDC
    const holders = [account('b1'), account('b2')] as const
    for (const holder of holders) {
      const args = [tronHexAddress(holder), 5n] as const
      await bed.evm.send(
        bed.user,
        token,
        encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
      )
    }
    const locks = async (chain = open()) => {
      const asked = [...holders, account('b3')].map((user) =>
        chain.userFacts({ user, currency: bed.usdc, spender: bed.depository }),
      )
      return (await Promise.all(asked)).map(({ inputLock }) => inputLock?.why)
    }
    const fails = (_path: string, body: unknown) =>
      JSON.stringify(body).includes('constant_result') ? { result: { result: true, message: 'no' } } : body
    nodes[0]?.set({ kind: 'lie', rewrite: fails })
    expect(await locks()).toEqual([undefined, undefined, undefined])
    nodes[0]?.set({ kind: 'none' })
    const code = await bed.evm.node('eth_getCode', [token, 'latest'])
    await placeEvmWallet(bed.evm.network.chains.base.chain, 'blocked', token, tronHexAddress(holders[0]))
    expect(await locks()).toEqual(['holds a token that lets him pay nothing', undefined, undefined])
    await bed.evm.node('anvil_setCode', [token, code])
  })

  test.each([9_000_000, 21_000])(
    'Q-48: one node that says %i energy changes nothing',
    async (energy_used) => {
      const honest = await tried(keeps, trx)
      nodes[0]?.set({
        kind: 'lie',
        rewrite: (path, body) =>
          path.endsWith('triggerconstantcontract') ? { ...Object(body), energy_used } : body,
      })
      expect(honest?.units).toBeGreaterThan(30_000n)
      expect(await tried(keeps, trx)).toEqual(honest)
      expect(await tried(plain, trx)).toEqual({ refusal: undefined })
    },
  )

  test('Q-62: says nothing of the payee while the payer is short', async () => {
    const poor = `0x${'90'.repeat(20)}` as const
    expect(await tried(plain, bed.usdc, 5n, poor)).toEqual({ refusal: undefined })
  })

  test('Q-62: is unknown where nodes contradict each other', async () => {
    nodes[0]?.set(saying('1'.padStart(64, '0')))
    nodes[1]?.set({ kind: 'html' })
    nodes[2]?.set({ kind: 'html' })
    expect(await tried(refuses, trx)).toBeUndefined()
  })
})

const options = (change: Partial<NetworkReaderOptions> = {}): NetworkReaderOptions => ({
  client: connect(),
  depository: bed.depository,
  network: undefined,
  hubChainId: `${chainId}`,
  fillContract: bed.evm.deployment.fillContract,
  fillWallet: wallet,
  feeModel: { kind: 'energy', maxSunPerEnergy: 500n, markupBps: 0 },
  currencies: [
    { address: trx, decimals: 6 },
    { address: bed.usdc, decimals: 6 },
  ],
  ...change,
})

function read(change: Partial<NetworkReaderOptions> = {}): Promise<NetworkReading> {
  const { network } = tronQuotingChain
  if (network === undefined) throw new Error('it has a reader')
  return network.reader(options(change)).read({ signal: AbortSignal.timeout(10_000), timeoutMs: 10_000 })
}

describe('the network', () => {
  test('is read at the block that enough nodes have, at the prices that they agree on', async () => {
    nodes[0]?.set({
      kind: 'lie',
      rewrite: (path, body) => {
        if (path.endsWith('getchainparameters'))
          return {
            chainParameter: [
              { key: 'getEnergyFee', value: 1 },
              { key: 'getTransactionFee', value: 1 },
            ],
          }
        return path.endsWith('getaccount') ? { ...Object(body), balance: 9_000_000_000_000 } : body
      },
    })
    const { fees, inventory, shown, voices } = await read()
    expect(voices).toEqual({ agreed: 3, required: 2, configured: 3 })
    expect([inventory.get(trx), inventory.get(bed.usdc)]).toEqual([20_000_000n, 9_000_000n])
    if (!(fees instanceof TronFees)) throw new Error('it has fees')
    expect([fees.sunPerEnergy, fees.sunPerByte]).toEqual([210n, 1_000n])
    expect(shown).toMatchObject({ sunPerEnergy: '210', ceilingSunPerEnergy: '500', energyFrom: 'median' })
  })

  test('F-128: has what tokens take of the median of its nodes, dearer where nobody holds them yet', async () => {
    nodes[0]?.set({
      kind: 'lie',
      rewrite: (path, body) =>
        path.endsWith('triggerconstantcontract') ? { ...Object(body), energy_used: 3 } : body,
    })
    const { fees } = await read()
    if (!(fees instanceof TronFees)) throw new Error('it has fees')
    const fill = (holdsNone: boolean) =>
      fees.useOf({ kind: 'fill', isNative: false, lack: holdsNone ? { holdsNone } : {} }).energy
    expect(fill(true)).toBeGreaterThan(fill(false))
    expect(fees.useOf({ kind: 'deposit-transfer', isNative: false }).energy).toBeGreaterThan(5_000n)
  })

  test('F-128: is reckoned with the usual where nobody can measure: no wallet, nothing in it, too few nodes', async () => {
    const usual = (reading: NetworkReading) =>
      reading.fees instanceof TronFees && reading.fees.useOf({ kind: 'approve', isNative: false }).energy
    const measured = [
      await read({ fillWallet: undefined }),
      await read({ fillWallet: stranger }),
      await read({ client: connect(nodes.slice(0, 2).map(({ url }) => url)) }),
    ]
    // An empty wallet can allow all the same.
    expect(measured.map(({ shown }) => 'energyFrom' in shown && shown.energyFrom)).toEqual([
      'configured',
      'median',
      'configured',
    ])
    expect(measured.map(usual)).toEqual([
      usualTokenEnergy.approve,
      expect.anything(),
      usualTokenEnergy.approve,
    ])
    const [, empty] = measured
    expect(
      empty?.fees instanceof TronFees && empty.fees.useOf({ kind: 'deposit-transfer', isNative: false }),
    ).toEqual({ energy: usualTokenEnergy.toHolder, bytes: 381n })
  })

  test('is not quoted above the ceiling, nor while nodes contradict each other about its prices', async () => {
    prices.sunPerEnergy = 501
    expect((await read()).fees).toEqual({
      reason: 'energy_price_above_ceiling',
      charge: 'Energy',
      cost: 'costs 501 sun',
      ceiling: '500',
    })
    for (const [index, node] of nodes.entries())
      node.set({
        kind: 'lie',
        rewrite: (path, body) =>
          path.endsWith('getchainparameters')
            ? {
                chainParameter: [
                  { key: 'getEnergyFee', value: index },
                  { key: 'getTransactionFee', value: 1 },
                ],
              }
            : body,
      })
    expect((await read()).fees).toEqual({ reason: 'gas_disputed' })
  })
})

describe('a start', () => {
  const found = async (change: Partial<NetworkReaderOptions> = {}, isLocal = false) =>
    (await tronQuotingChain.network?.contradictions({ ...options(change), isLocal }))?.map(
      ({ kind, problem }) => `${kind}: ${problem}`,
    )

  test('finds nothing wrong with a chain that is as it is configured', async () => {
    expect(await found()).toEqual([])
  })

  test('names another network, contracts that are not there, and tokens of other decimals', async () => {
    expect(await found({ hubChainId: '5' })).toHaveLength(3)
    expect(await found({ depository: stranger })).toEqual(
      nodes.map(() => expect.stringMatching(/^contract: .* shows no contract at chains: tron.depository$/)),
    )
    expect(await found({ fillContract: tronHexAddressOf(stranger) })).toEqual([
      `contract: quote: chains.tron.fillContract: there is no contract at ${stranger}`,
    ])
    const currencies = [
      { address: trx, decimals: 18 },
      { address: bed.usdc, decimals: 8 },
      { address: stranger, decimals: 6 },
    ]
    expect(await found({ currencies })).toEqual([
      `decimals: ${trx} has 6 decimals`,
      `decimals: ${bed.usdc} has 6 decimals`,
      `contract: ${stranger} is no token`,
    ])
  })

  test('on this machine takes no node of a public network', async () => {
    expect(await found({}, true)).toEqual(nodes.map(() => expect.stringMatching(/is on the main network$/)))
  })
})

const tronHexAddressOf = (address: string) => tronHexAddress(address)
