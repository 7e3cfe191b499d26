import { createServer } from 'node:http'
import { loadArtifacts } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import {
  type ChainsFile,
  chainsFileSchema,
  isContractChain,
  type PriceFeed,
  type QuoteChain,
  type QuoteFile,
  quoteFileSchema,
} from '@causeway/core/config'
import { associatedTokenAccount, deriveProgramAddresses, tokenProgram } from '@causeway/families/rules'
import {
  decodeFunctionData,
  encodeFunctionResult,
  keccak256,
  parseAbi,
  toFunctionSelector,
  toHex,
  zeroHash,
} from 'viem'
import { z } from 'zod'

/** A contract as its chain shows it: code, and what its functions return whatever they are given. */
export type ShownContract = { code: Hex; returns: Record<string, Hex> }

/** An account of a cluster. */
export type ShownAccount = { owner: string; data: Buffer; executable?: boolean; lamports?: number }

/** Base fee of every chain, before the tip. */
const baseFeeWei = toHex(10n ** 7n)

/** Answers of the endpoints of one chain. Tests change them to lie. */
export type ShownChain = {
  isSilent: boolean
  /** A method that the endpoints refuse. */
  refused: string
  chainId: number
  genesisHash: string
  readonly contracts: Map<string, ShownContract>
  readonly accounts: Map<string, ShownAccount>
}

/** The chains of a quote file, as it and its sources describe them: no node is there, and no answer was recorded. */
export type ConfiguredChains = {
  readonly chains: ReadonlyMap<string, ShownChain>
  /** `<KEY>_RPC_URL` of the chains that are named, by default of all. */
  variables(keys?: readonly string[]): Readonly<Record<string, string>>
  close(): Promise<void>
}

const aggregateAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
])
const aggregateSelector = toFunctionSelector('aggregate3((address,bool,bytes)[])')
/** Code of contracts whose code is not compared. */
const anyCode: Hex = '0x60016000f3'
/** Balance of the solver in every currency, for every query. */
const solverHas = 10n ** 22n
/** Seconds since a feed of these chains answered. */
const answeredAgo = 5n
/** Dollars with eight decimals, by what a feed says it is of. */
const answers: Readonly<Record<string, bigint>> = {
  'ETH / USD': 2_500_00000000n,
  'WBTC / USD': 80_000_00000000n,
  'SOL / USD': 150_00000000n,
  'POL / USD': 10000000n,
  'MATIC / USD': 10000000n,
}

/** Data prices of an op-stack chain and of an Arbitrum one. */
const dataPrices: Readonly<Record<string, Hex>> = {
  'getL1Fee(bytes)': word(10n ** 12n),
  'getOperatorFee(uint256)': word(0n),
  'getPricesInWei()': `0x${[140n, 1n, 1n, 1n, 1n, 1n].map((wei) => word(wei * 10n ** 9n).slice(2)).join('')}`,
}

export async function startConfiguredChains(
  quoteJson: unknown,
  chainsJson: unknown,
): Promise<ConfiguredChains> {
  const { FillContract } = await loadArtifacts()
  // Placeholders are no addresses, and no chain shows them.
  const quote = quoteFileSchema.parse({ ...Object(quoteJson), fillWallet: undefined })
  const listed = chainsFileSchema.parse(withoutPlaceholders(chainsJson))
  const chains = new Map(
    Object.entries(quote.chains).map(([key, chain]) => {
      const entry = listed.chains.find(({ id }) => id === key)
      if (entry === undefined) throw new Error(`${key} is not listed`)
      return [key, shownAs(chain, entry, { quote, key, fillCode: FillContract.runtimeBytecode })] as const
    }),
  )
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const chain = chains.get((request.url ?? '').slice(1))
    if (chain === undefined || chain.isSilent) return void response.writeHead(503).end()
    const asked: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const said = Array.isArray(asked) ? asked.map((call) => answer(chain, call)) : answer(chain, asked)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return {
    chains,
    variables: (keys = [...chains.keys()]) =>
      Object.fromEntries(
        keys.map((key, index) => [
          `${key.toUpperCase().replaceAll('-', '_')}_RPC_URL`,
          // Prices count hosts, and a machine has two names for itself.
          `http://${index % 2 === 0 ? '127.0.0.1' : 'localhost'}:${address.port}/${key}`,
        ]),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const listSchema = z.looseObject({
  chains: z.array(z.looseObject({ id: z.string(), depository: z.string() })),
})

/**
 * A chain file that records what stands for the public depositories: their code is not kept here, and another build
 * is recorded alike.
 */
export function recordStandIns(chainsJson: unknown, { chains }: Pick<ConfiguredChains, 'chains'>): unknown {
  const list = listSchema.parse(chainsJson)
  const isContract = (id: string) => (chains.get(id)?.contracts.size ?? 0) > 0
  return {
    ...list,
    chains: list.chains.map((entry) =>
      isContract(entry.id) ? { ...entry, codeHashes: { [entry.depository]: keccak256(anyCode) } } : entry,
    ),
  }
}

function withoutPlaceholders(chainsJson: unknown): unknown {
  return JSON.parse(JSON.stringify(chainsJson), (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith('$') ? undefined : value,
  )
}

function shownAs(
  chain: QuoteChain,
  entry: ChainsFile['chains'][number],
  { quote, key, fillCode }: { quote: QuoteFile; key: string; fillCode: Hex },
): ShownChain {
  const contracts = new Map<string, ShownContract>()
  const accounts = new Map<string, ShownAccount>()
  const put = (at: string | undefined, returns: Record<string, Hex> = {}, code: Hex = anyCode) => {
    if (at === undefined) return
    const known = contracts.get(at.toLowerCase())
    contracts.set(at.toLowerCase(), { code, returns: { ...known?.returns, ...returns } })
  }
  const depository = entry.depository ?? ''
  if (isContractChain(chain)) {
    put(chain.multicall3, { 'getEthBalance(address)': word(solverHas) })
    put(depository)
    put(chain.feeModel.gasPriceOracle, dataPrices)
    put(chain.uniswapV3?.factory)
    put(chain.uniswapV3?.quoterV2)
    for (const { address, symbol, decimals } of chain.currencies)
      put(address, {
        'decimals()': word(decimals),
        'symbol()': text(symbol),
        'balanceOf(address)': word(solverHas),
      })
    for (const { address, token0, token1, feePips, tickSpacing } of chain.uniswapV3?.pools ?? [])
      put(address, {
        'token0()': word(token0),
        'token1()': word(token1),
        'fee()': word(feePips),
        'tickSpacing()': word(tickSpacing),
        'factory()': word(chain.uniswapV3?.factory ?? 0),
      })
    put(chain.fillContract, {}, fillCode)
    put(chain.sequencerUptimeFeed, {
      'description()': text('L2 Sequencer Uptime Status Feed'),
      'decimals()': word(0),
      'latestRoundData()': roundOf(0n, nowSeconds() - 86_400n),
    })
  } else {
    const { vaultTokenAccount } = deriveProgramAddresses(depository)
    accounts.set(depository, { owner: loader, data: Buffer.alloc(0), executable: true })
    for (const { address: mint, decimals } of chain.currencies.slice(1)) {
      const data = Buffer.alloc(82)
      data[44] = decimals
      accounts.set(mint, { owner: tokenProgram, data })
      const held = Buffer.alloc(165)
      held.writeBigUInt64LE(solverHas / 10n ** 6n, 64)
      const token = { mint, tokenProgram }
      accounts.set(vaultTokenAccount(token), { owner: tokenProgram, data: Buffer.alloc(165) })
      accounts.set(associatedTokenAccount(solanaFillWallet, token), { owner: tokenProgram, data: held })
    }
    accounts.set(clock, { owner: 'Sysvar1111111111111111111111111111111111111', data: Buffer.alloc(40) })
    const wallet = { owner: systemProgram, data: Buffer.alloc(0), lamports: 10 ** 15 }
    accounts.set(solanaFillWallet, wallet)
  }
  for (const { index, addresses, contract } of quote.guardianSets) {
    if (contract?.chain !== key) continue
    put(contract.address, { 'wormhole()': word(guardianKeeper) })
    put(guardianKeeper, guardianSet(index, addresses))
  }
  for (const feed of quote.prices.flatMap(({ feeds }) => feeds))
    if (feed.chain === key) put(feed.address, shownFeed(feed))
  const { additionalData } = entry
  return {
    isSilent: false,
    refused: '',
    chainId: chain.chainId,
    genesisHash: String(additionalData?.['network']),
    contracts,
    accounts,
  }
}

/** Solver's account on Solana. */
export const solanaFillWallet = 'GjwcWFQYzemBtpUoN5fMAP2FZviTtMRWCmrppGuTthJS'
/** @source Solana, sysvars and native programs */
const clock = 'SysvarC1ock11111111111111111111111111111111'
const systemProgram = '11111111111111111111111111111111'
/** @source Solana, the loader that programs belong to */
const loader = 'BPFLoaderUpgradeab1e11111111111111111111111'

function shownFeed({ description, decimals }: PriceFeed): Record<string, Hex> {
  return {
    'description()': text(description),
    'decimals()': word(decimals),
    'latestRoundData()': roundOf(answers[description] ?? 100000000n, nowSeconds() - answeredAgo),
  }
}

/** The contract that keeps the guardian sets of Pyth. */
export const guardianKeeper: Hex = `0x${'6a'.repeat(20)}`

/** Its answers while a set is the current one. */
export function guardianSet(index: number, addresses: readonly Hex[]): Record<string, Hex> {
  const abi = parseAbi(['function s() view returns ((address[] keys, uint32 expirationTime))'])
  return {
    'getCurrentGuardianSetIndex()': word(index),
    'getGuardianSet(uint32)': encodeFunctionResult({ abi, result: { keys: addresses, expirationTime: 0 } }),
  }
}

/** Return value of `latestRoundData()`. */
export function roundOf(value: bigint, updatedAtSeconds: bigint): Hex {
  const words = [1n, value, updatedAtSeconds, updatedAtSeconds, 1n].map((one) => word(one).slice(2))
  return `0x${words.join('')}`
}

export function nowSeconds(): bigint {
  return BigInt(Math.floor(Date.now() / 1_000))
}

/** One word of return data. */
export function word(value: bigint | number | string): Hex {
  return toHex(BigInt(value), { size: 32 })
}

/** A returned string. */
export function text(value: string): Hex {
  return encodeFunctionResult({ abi: parseAbi(['function s() view returns (string)']), result: value })
}

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }

function answer(chain: ShownChain, asked: unknown) {
  // CAST: only clients of this repository ask here, and they send well-formed calls.
  const { id, method, params } = asked as Call
  const result = method === chain.refused ? undefined : resultOf(chain, method, params)
  if (result !== undefined) return { jsonrpc: '2.0', id, result }
  return { jsonrpc: '2.0', id, error: { code: -32_601, message: `no ${method} here` } }
}

function resultOf(chain: ShownChain, method: string, params: readonly unknown[]): unknown {
  const [first] = params
  switch (method) {
    case 'eth_chainId':
      return toHex(chain.chainId)
    case 'eth_getCode':
      return chain.contracts.get(String(first).toLowerCase())?.code ?? '0x'
    case 'eth_getBlockByNumber':
      return {
        number: '0x64',
        hash: zeroHash,
        parentHash: zeroHash,
        baseFeePerGas: baseFeeWei,
        timestamp: toHex(nowSeconds()),
      }
    case 'eth_feeHistory': {
      const blocks = Array.from({ length: Number(first) }, () => baseFeeWei)
      return {
        oldestBlock: '0x1',
        baseFeePerGas: [...blocks, baseFeeWei],
        gasUsedRatio: blocks.map(() => 0.5),
        reward: blocks.map(() => ['0x1']),
      }
    }
    // Whoever tries a payment finds that it succeeds, and nobody has deposited anything.
    case 'eth_estimateGas':
      return toHex(Object(first)['data'] === undefined ? 21_000 : 50_000)
    case 'eth_getLogs':
    case 'getSignaturesForAddress':
      return []
    case 'eth_call':
      return called(chain, Object(first))
    case 'getSlot':
      return 1
    case 'getRecentPrioritizationFees':
      return [{ slot: 1, prioritizationFee: 1_000 }]
    case 'getMinimumBalanceForRentExemption':
      return 890_880
    case 'getGenesisHash':
      return chain.genesisHash
    case 'getAccountInfo':
      return { context: { slot: 1 }, value: shown(chain, String(first)) }
    case 'getMultipleAccounts':
      return { context: { slot: 1 }, value: [first].flat().map((account) => shown(chain, String(account))) }
    default:
      return undefined
  }
}

function shown({ accounts }: ShownChain, address: string) {
  const account = accounts.get(address)
  if (account === undefined) return null
  const { owner, data, executable = false, lamports = 1 } = account
  if (address === clock) data.writeBigInt64LE(nowSeconds(), 32)
  return { owner, executable, lamports, rentEpoch: 0, data: [data.toString('base64'), 'base64'] }
}

function called(chain: ShownChain, { to, data }: { to: string; data: Hex }): Hex {
  return data.startsWith(aggregateSelector) ? aggregate(chain, data) : returned(chain, to, data).returnData
}

/** Answer of a contract to a call. */
function returned({ contracts }: ShownChain, to: string, callData: Hex) {
  const { returns = {} } = contracts.get(to.toLowerCase()) ?? {}
  const asked = Object.keys(returns).find((name) => callData.startsWith(toFunctionSelector(name)))
  return { success: asked !== undefined, returnData: returns[asked ?? ''] ?? ('0x' as const) }
}

function aggregate(chain: ShownChain, data: Hex): Hex {
  const { args } = decodeFunctionData({ abi: aggregateAbi, data })
  const result = args[0].map(({ target, callData }) => returned(chain, target, callData))
  return encodeFunctionResult({ abi: aggregateAbi, functionName: 'aggregate3', result })
}
