// A test network, what its owners issue, and allocators in processes of their own.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  bytesToHex,
  type Hex,
  hubTokenId,
  type WithdrawRequest,
  withdrawalAddress,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { payloadHashes, signingDigest } from '@causeway/families/rules'
import {
  allocatorAbi,
  allocatorEnvironment,
  allocatorKeys,
  hubAbi,
  type Session,
  type SpawnedService,
  spawnAllocator,
  type TestNetwork,
} from '@causeway/localnet'
import { concatHex, encodeFunctionData, keccak256, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'
import { onTestFinished } from 'vitest'

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const
const configs = join(import.meta.dirname, '../../../../configs')

/** One whose hub issues payloads, whoever mines its blocks. */
type IssuingNetwork = Pick<Session['network'], 'keys' | 'deployment' | 'chains'>

export const freshAddress = (): Hex => {
  const address = privateKeyToAddress(generatePrivateKey())
  return `0x${address.slice(2).toLowerCase()}`
}
export const bytes32 = (value: number | bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** Request to withdraw USDC from the depository on Base. */
export function usdcRequest(
  { deployment }: IssuingNetwork,
  change: Partial<WithdrawRequest> = {},
): WithdrawRequest {
  const { chainId, depository, tokens } = deployment.base
  return {
    chainId: BigInt(chainId),
    depository,
    currency: tokens.USDC,
    amount: 4_000_000n,
    recipient: freshAddress(),
    spender: freshAddress(),
    data: '0x',
    nonce: bytes32(1),
    ...change,
  }
}

/** Puts money behind a request, as the settlement of its initiation does: the owner of the ledger mints it. */
export async function fund(
  network: IssuingNetwork,
  request: WithdrawRequest,
  amount = request.amount,
): Promise<void> {
  const { hub: to } = network.deployment.hub
  const { deployer } = network.keys
  const { depository, currency, recipient, spender: ownerAlias } = request
  const holder = withdrawalAddress(base, {
    depository,
    currency,
    recipient,
    ownerAlias,
    nonce: BigInt(request.nonce),
  })
  const role = [keccak256(toHex('OPERATOR_ROLE')), deployer.address] as const
  await network.chains.hub.chain.send(deployer, [
    { what: 'a right', to, data: encodeFunctionData({ abi: hubAbi, functionName: 'grantRole', args: role }) },
    {
      what: 'money on the hub',
      to,
      data: encodeFunctionData({
        abi: hubAbi,
        functionName: 'mint',
        args: [holder, hubTokenId(base, currency), amount],
      }),
    },
  ])
}

export type Issued = {
  readonly payloadId: Hex
  readonly payload: Hex
  readonly hash: Hex
  /** `0x` while none is stored. */
  signature(): Promise<Hex>
}

/** Two oracles sign it, and the allocator's contract builds its payload; not final yet. */
export async function issue(network: IssuingNetwork, request: WithdrawRequest): Promise<Issued> {
  const { hub } = network.deployment
  const { chain, chainId } = network.chains.hub
  const domain = { chainId, verifyingContract: hub.allocator }
  const digest = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request }))
  const oracles = [...network.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  const signatures = await Promise.all(
    oracles.slice(0, 2).map(({ privateKey }) => sign({ hash: digest, privateKey, to: 'hex' })),
  )
  const { recipient, ...rest } = request
  const args = [{ ...rest, receiver: recipient }, concatHex(signatures)] as const
  const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
  await chain.send(network.keys.fillWallet, [{ what: 'submission', to: hub.allocator, data }])
  const payloadId = withdrawRequestPayloadId(request)
  const contract = { address: hub.allocator, abi: allocatorAbi }
  const payload = await chain.client.readContract({
    ...contract,
    functionName: 'payloads',
    args: [payloadId],
  })
  const place = { hubChainId: request.chainId, depository: request.depository }
  const [hash] = payloadHashes('ethereum-vm', payload, place)
  if (hash === undefined) throw new Error('no hash')
  const signature = () =>
    chain.client.readContract({ ...contract, functionName: 'signedPayloads', args: [payloadId, hash] })
  return { payloadId, payload, hash, signature }
}

/** Funded, issued and final. */
export async function issueFinal(
  network: TestNetwork,
  change: Partial<WithdrawRequest> = {},
): Promise<Issued> {
  const request = usdcRequest(network, change)
  await fund(network, request)
  const issued = await issue(network, request)
  await network.mine('hub', 2)
  return issued
}

/** An empty folder; gone after the test. */
export async function stateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-allocator-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The files of `local` with an allocator file of one's own; gone after the test. */
export async function configFolder(depositories: readonly object[], change: object = {}): Promise<string> {
  const folder = await stateFolder()
  for (const name of ['chains.local.json', 'chains.hub.local.json'])
    await cp(join(configs, name), join(folder, name))
  const file: object = JSON.parse(await readFile(join(configs, 'allocator.local.json'), 'utf8'))
  await writeFile(join(folder, 'allocator.local.json'), JSON.stringify({ ...file, depositories, ...change }))
  return folder
}

export type AllocatorSettings = {
  readonly stateDirectory: string
  /** Default: the node of the hub. */
  readonly hubUrls?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

export type RunningAllocator = SpawnedService & {
  /** Status and body. */
  ask(path: '/ready' | '/metrics'): Promise<{ readonly status: number; readonly text: string }>
}

/** The process as an operator runs it; gone after the test. */
export async function startAllocator(
  network: TestNetwork,
  settings: AllocatorSettings,
): Promise<RunningAllocator> {
  const { stateDirectory, hubUrls, variables = {} } = settings
  const { ecdsa, ed25519 } = allocatorKeys(network)
  const url = hubUrls?.join(',') ?? network.chains.hub.url
  const chains = { hub: { url } }
  const allocator = spawnAllocator({
    ...allocatorEnvironment({ chains }, { opsPort: 0, pollMs: 50, stateDirectory }),
    ALLOCATOR_ECDSA_PRIVATE_KEY: ecdsa,
    ALLOCATOR_ED25519_PRIVATE_KEY: ed25519,
    ...variables,
  })
  onTestFinished(async () => {
    allocator.kill('SIGKILL')
    await allocator.ended
  })
  return {
    ...allocator,
    async ask(path) {
      // A port that was free may be another test's by now, so that the process chooses it.
      const url = /"opsUrl":"([^"]+)"/.exec(allocator.output())?.[1]
      const response = await fetch(`${url}${path}`)
      return { status: response.status, text: await response.text() }
    },
  }
}
