import type { Hex } from '@causeway/core'
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  encodeDeployData,
  http,
  type TestClient,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tokenAbi } from '../contracts/abis.generated.ts'
import type { Artifacts } from '../contracts/artifacts.ts'
import { loadArtifacts } from '../contracts/artifacts.ts'
import { type Anvil, type AnvilOptions, startAnvil } from '../nodes/anvil.ts'
import { type LocalClients, waitUntilMined } from '../nodes/clients.ts'
import { deployThroughProxy } from './create2.ts'
import { deployUniswapV3, type UniswapV3Deployment } from './deployUniswapV3.ts'

/** A node with Uniswap V3, Multicall3 and one rich account: what a test about pools starts from. */
export type PoolTestbed = LocalClients & {
  readonly anvil: Anvil
  readonly node: TestClient
  readonly multicall3: Hex
  readonly uniswap: UniswapV3Deployment
  /** Deploys one more token, all of whose supply the account owns. @returns its address, lower case */
  deployToken(token: { readonly symbol: string; readonly decimals: number }): Promise<Hex>
}

const richWei = 10n ** 30n
const tokenSupply = 2n ** 200n

/** Starts a node with an account of its own. Stop it by `anvil.stop()`; a failed start stops it itself. */
export async function startPoolTestbed(options: Partial<AnvilOptions> = {}): Promise<PoolTestbed> {
  const anvil = await startAnvil({ chainId: 31_337, ...options })
  try {
    return await deployAll(anvil)
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

async function deployAll(anvil: Anvil): Promise<PoolTestbed> {
  const clients = connectRichAccount(anvil)
  await clients.node.setBalance({ address: clients.walletClient.account.address, value: richWei })
  const artifacts = await loadArtifacts()
  const wrappedNative = await deployThroughProxy(clients, artifacts.WrappedNative.bytecode, 'wrapped native')
  return {
    ...clients,
    anvil,
    multicall3: await deployThroughProxy(clients, artifacts.Multicall3.bytecode, 'Multicall3'),
    uniswap: await deployUniswapV3({ ...clients, wrappedNative }),
    deployToken: (token) => deployToken(clients, artifacts, token),
  }
}

function connectRichAccount({ chainId, url }: Anvil): LocalClients & { readonly node: TestClient } {
  const transport = http(url, { batch: { batchSize: 500 }, timeout: 60_000 })
  const chain = defineChain({
    id: chainId,
    name: `anvil ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  const account = privateKeyToAccount(generatePrivateKey())
  return {
    publicClient: createPublicClient({ chain, transport, cacheTime: 0, pollingInterval: 20 }),
    walletClient: createWalletClient({ chain, transport, account }),
    node: createTestClient({ chain, mode: 'anvil', transport }),
  }
}

async function deployToken(
  clients: LocalClients,
  artifacts: Artifacts,
  { symbol, decimals }: { readonly symbol: string; readonly decimals: number },
): Promise<Hex> {
  const initCode = encodeDeployData({
    abi: tokenAbi,
    bytecode: artifacts.Token.bytecode,
    args: [`Token ${symbol}`, symbol, decimals, '1'],
  })
  const token = await deployThroughProxy(clients, initCode, `token ${symbol}`)
  const { walletClient } = clients
  const owner = walletClient.account.address
  const initialized = await walletClient.writeContract({
    address: token,
    abi: tokenAbi,
    functionName: 'initialize',
    args: [owner],
  })
  await waitUntilMined(clients, initialized, 'initialize')
  const minted = await walletClient.writeContract({
    address: token,
    abi: tokenAbi,
    functionName: 'mint',
    args: [[{ to: owner, amount: tokenSupply }]],
  })
  await waitUntilMined(clients, minted, 'token mint')
  return token
}
