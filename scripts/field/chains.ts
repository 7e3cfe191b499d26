// A chain as a run in the field reads and pays on it, over its first endpoint.
import { create2Proxy, planDeployment } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import {
  bytesToHex,
  concatHex,
  createPublicClient,
  createWalletClient,
  type HttpTransport,
  http,
  type PublicClient,
  parseAbi,
  size,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { FieldChain } from './files.ts'
import { type ChainCosts, inventoryWei } from './plan.ts'

export type OpenChain = FieldChain & { readonly client: PublicClient<HttpTransport>; readonly url: string }

export type Payment = { readonly to: Hex; readonly data?: Hex; readonly valueWei: bigint }

/** Result of one look at a chain. */
export type ChainReading = {
  readonly costs: ChainCosts
  /** Balance of the funded account, in wei. */
  readonly balanceWei: bigint
  /** For the report. */
  readonly told: string
}

const pollingMs = 500
const minedTimeoutMs = 600_000
/** A price of gas that is offered is this many times the price now: it may rise while a run goes on. */
const gasPriceRise = 2n
/** Gas of a transfer whose sender has no coin, which no node estimates: a new account alone may take 183,600 units. */
const unmeasuredTransferGas = 250_000n
/** Bytes of a signed transaction that calls a contract. */
const transactionBytes = 600

const feedAbi = parseAbi([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
])
const rollupAbi = parseAbi(['function getL1Fee(bytes) view returns (uint256)'])

export function openChain(chain: FieldChain, url: string): OpenChain {
  return { ...chain, url, client: createPublicClient({ transport: http(url), pollingInterval: pollingMs }) }
}

type Looker = {
  readonly environment: string
  /** The funded one. */
  readonly account: Hex
  readonly fillWallet: Hex
  /** Millionths of a USD for a coin. */
  readonly coinPrice: bigint
}

/** @throws Error for another chain, or one without depository */
export async function readChain(
  chain: OpenChain,
  { environment, account, fillWallet, coinPrice }: Looker,
): Promise<ChainReading> {
  const { client, key, depository } = chain
  const [id, node, head, balanceWei, depositoryCode, fillCode] = await Promise.all([
    client.getChainId(),
    client.request({ method: 'web3_clientVersion' }).catch(() => 'a node that does not name itself'),
    client.getBlock(),
    client.getBalance({ address: account }),
    client.getCode({ address: depository }),
    client.getCode({ address: chain.fillContract }),
  ])
  if (id !== chain.chainId) throw new Error(`the endpoint of ${key} is of chain ${id}, not ${chain.chainId}`)
  if (isMissing(depositoryCode)) throw new Error(`there is no depository at ${depository}`)
  const gasPriceMaxWei = gasPriceRise * (await client.getGasPrice())
  const priced = {
    chain: key,
    microUsdPerCoin: coinPrice,
    gasPriceMaxWei,
    dataFeeMaxWei: await dataFeeMaxWei(chain, transactionBytes),
    transferGasMax: await measuredGasMax(chain, { from: account, to: fillWallet, valueWei: 1n }).catch(
      () => unmeasuredTransferGas,
    ),
  }
  const deployMaxWei = await deploymentWei(chain, { environment, account, gasPriceMaxWei })
  const gap = Math.round(Date.now() / 1_000) - Number(head.timestamp)
  return {
    costs: { ...priced, deployMaxWei },
    balanceWei,
    told: `${node}, block ${head.number} of ${gap} s ago, gas at ${gasPriceMaxWei / gasPriceRise} wei, ${
      isMissing(fillCode) ? 'no fill contract yet' : 'fill contract there'
    }`,
  }
}

const isMissing = (code: Hex | undefined) => code === undefined || code === '0x'

/** @returns millionths of a USD for a coin of `chain` @throws Error where the feed has no price */
export async function readCoinPrice({ feed, key }: FieldChain, from: OpenChain): Promise<bigint> {
  const [, answer] = await from.client.readContract({
    address: feed.address,
    abi: feedAbi,
    functionName: 'latestRoundData',
  })
  const microUsd = (answer * 1_000_000n) / 10n ** BigInt(feed.decimals)
  if (microUsd <= 0n) throw new Error(`the feed of ${key} has no price`)
  return microUsd
}

/** Maximum data fee of a rollup for a transaction of `bytes` bytes that do not compress well, in wei. */
async function dataFeeMaxWei({ client, gasPriceOracle }: OpenChain, bytes: number): Promise<bigint> {
  if (gasPriceOracle === undefined) return 0n
  const data = bytesToHex(Uint8Array.from({ length: bytes }, (_, index) => (index * index * 167 + 13) % 256))
  const fee = await client.readContract({
    address: gasPriceOracle,
    abi: rollupAbi,
    functionName: 'getL1Fee',
    args: [data],
  })
  return gasPriceRise * fee
}

/** Cost of the shipped command's deployments on the chain, in wei. Contracts that no file names are left out. */
async function deploymentWei(
  chain: OpenChain,
  { environment, account, gasPriceMaxWei }: { environment: string; account: Hex; gasPriceMaxWei: bigint },
): Promise<bigint> {
  const { client, depository, swapRouter, wrappedNative, contracts } = chain
  const plan = planDeployment(environment, { depository, swapRouter, wrappedNative })
  const named = plan.filter(({ address }) => contracts.includes(address))
  const costs = named.map(async ({ address, salt, initCode }) => {
    if (!isMissing(await client.getCode({ address }))) return 0n
    const data = concatHex([salt, initCode])
    const gas = await client.estimateGas({ account, to: create2Proxy, data })
    return gas * gasPriceMaxWei + (await dataFeeMaxWei(chain, size(data)))
  })
  return (await Promise.all(costs)).reduce((sum, cost) => sum + cost, 0n)
}

/** Shortage of the fill wallet against its inventory, in wei. */
export async function missingWei(
  chain: OpenChain,
  wallet: Hex,
  needed: { costs: ChainCosts; payments: number },
) {
  const lacking =
    inventoryWei(needed.costs, needed.payments) - (await chain.client.getBalance({ address: wallet }))
  return lacking > 0n ? lacking : 0n
}

/** Units of gas that a transaction may take: a quarter more than the chain measures now. @throws Error where it would revert */
export async function measuredGasMax(
  { client }: OpenChain,
  { from, to, data = '0x', valueWei }: Payment & { readonly from: Hex },
): Promise<bigint> {
  return ((await client.estimateGas({ account: from, to, data, value: valueWei })) * 5n) / 4n
}

/**
 * Sends and waits until it is mined. Its gas costs no more than `gasMax` at `gasPriceMaxWei`.
 * @returns its hash @throws Error when it would need more gas, reverts, or is not mined
 */
export async function pay(
  { client, url, key }: OpenChain,
  payment: Payment & { readonly from: Hex; readonly gasPriceMaxWei: bigint; readonly gasMax: bigint },
): Promise<Hex> {
  const { to, data = '0x', valueWei: value, gasPriceMaxWei, gasMax } = payment
  const account = privateKeyToAccount(payment.from)
  const estimated = await client.estimateGas({ account, to, data, value })
  if (estimated > gasMax)
    throw new Error(`a transaction on ${key} needs ${estimated} gas, more than ${gasMax}`)
  const wallet = createWalletClient({ account, transport: http(url) })
  const offered = { gas: gasMax, maxFeePerGas: gasPriceMaxWei }
  const hash = await wallet.sendTransaction({ to, data, value, ...offered, chain: null })
  const { status } = await client.waitForTransactionReceipt({ hash, timeout: minedTimeoutMs })
  if (status !== 'success') throw new Error(`transaction ${hash} on ${key} reverted`)
  return hash
}

const drainTries = 3

/**
 * Sends all that an account has to another one, once nothing of it waits to be mined.
 * @returns what was sent, in wei; 0 where it has less than sending costs
 */
export async function drain(chain: OpenChain, from: Hex, to: Hex): Promise<bigint> {
  const { client, url } = chain
  const account = privateKeyToAccount(from)
  const deadline = Date.now() + minedTimeoutMs
  while (Date.now() < deadline && (await hasPending(chain, account)))
    await new Promise((resolve) => setTimeout(resolve, pollingMs))
  const wallet = createWalletClient({ account, transport: http(url) })
  for (let tries = 1; ; tries += 1) {
    const [balance, price, dataFee] = await Promise.all([
      client.getBalance({ address: account.address }),
      client.getGasPrice(),
      dataFeeMaxWei(chain, transactionBytes),
    ])
    if (balance === 0n) return 0n
    // A quarter more, for the block that takes it; a transaction of the old kind pays exactly what it offers.
    const gasPrice = (price * 5n) / 4n
    const gas = await client.estimateGas({ account, to, value: 1n }).catch(() => undefined)
    if (gas === undefined || balance <= gas * gasPrice + dataFee) return 0n
    const value = balance - gas * gasPrice - dataFee
    try {
      const hash = await wallet.sendTransaction({ to, value, gas, gasPrice, type: 'legacy', chain: null })
      await client.waitForTransactionReceipt({ hash, timeout: minedTimeoutMs })
      return value
    } catch (error) {
      if (tries >= drainTries) throw error
    }
  }
}

async function hasPending({ client }: OpenChain, { address }: PrivateKeyAccount): Promise<boolean> {
  const [latest, pending] = await Promise.all([
    client.getTransactionCount({ address }),
    client.getTransactionCount({ address, blockTag: 'pending' }),
  ])
  return pending > latest
}
