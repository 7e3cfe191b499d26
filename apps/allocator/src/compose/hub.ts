import { setTimeout } from 'node:timers/promises'
import { examineClock, examineEndpoints } from '@causeway/chains'
import { isKnownCode } from '@causeway/contracts/codes'
import { ConfigurationError, type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { Findings } from '@causeway/core/config'
import {
  checkLocalNodes,
  codeProblems,
  createFinalStateReader,
  expectedCodes,
  type KnownCode,
  type RegisteredHub,
  readHead,
  verifyEvmEndpoints,
} from '@causeway/families'
import {
  countHosts,
  createJsonRpcClient,
  createQuorumOver,
  defaultThreshold,
  type QuorumClient,
} from '@causeway/rpc'
import { type AllocatorContract, createAllocatorContract } from '../hub/allocatorContract.ts'
import type { OwnHub } from './files.ts'

/** Clients and readers of the hub. */
export type OpenHub = ReturnType<typeof openHub>

const startTimeoutMs = 10_000

/** Makes the clients and readers of the hub, without a connection yet. */
export function openHub(hub: OwnHub) {
  const { id, endpoints, hubAddress, auroraAllocatorAddress: allocator } = hub
  // At least 1 also without endpoints, which `readFiles` reports.
  const threshold = Math.max(defaultThreshold(countHosts(endpoints)), 1)
  const client = createJsonRpcClient({
    chainId: id,
    endpoints: endpoints.map((url) => ({ url })),
    threshold,
  })
  const quorum: QuorumClient = createQuorumOver(client)
  const reader = createFinalStateReader({ quorum, rule: finalityOf(hub) })
  const contract = createAllocatorContract({ reader, allocator, hub: hubAddress })
  return { client, quorum, contract, threshold }
}

/**
 * Finality rule of all reads: that for the allocator's contract, else the hub's, else `finalized` blocks. No
 * mode of hub files reads `seconds`.
 */
function finalityOf({ auroraFinality, finality }: RegisteredHub) {
  const { mode = 'tag', tag = 'finalized', blocks = 0 } = auroraFinality ?? finality ?? {}
  return { mode, tag, blocks: BigInt(blocks), seconds: 0n } as const
}

/** The hub as the configuration and as its endpoints describe it. */
type ComparedHub = {
  readonly environment: string
  readonly hub: OwnHub
  readonly opened: OpenHub
  /** Lower-case address of the allocator's key. */
  readonly ownSigner: Hex
}

/** @throws ConfigurationError listing where the hub, as endpoints show it, differs from the configuration */
export async function refuseContradictions(compared: ComparedHub): Promise<void> {
  const problems = await contradictions(compared)
  if (problems.length > 0)
    throw ConfigurationError.listing('The hub contradicts the configuration:', problems)
}

/** Compares the hub and its endpoints with the configuration, for doctor, and closes what it opened. */
export async function examineHub(
  compared: Omit<ComparedHub, 'opened'>,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  const opened = openHub(compared.hub)
  const headSeconds = async () => (await readHead(opened.client)).timestampSeconds
  try {
    await Promise.all([
      examineEndpoints(opened.client, findings),
      examineClock([headSeconds], nowMs, findings),
      contradictions({ ...compared, opened }).then(
        (problems) => findings.problems(problems, 'chain-contradicts'),
        (error: unknown) => {
          // `examineEndpoints` names the endpoints that are silent.
          if (!(error instanceof UpstreamUnavailableError)) throw error
        },
      ),
    ])
  } finally {
    await opened.client.close()
  }
}

/**
 * Problems with the hub as endpoints show it: another chain, unknown code, or a contract that takes another signer.
 * @throws UpstreamUnavailableError when too few endpoints answer
 */
async function contradictions({
  environment,
  hub,
  opened: { client, contract, threshold },
  ownSigner,
}: ComparedHub): Promise<readonly string[]> {
  const { evmChainId, hubAddress, codeHashes } = hub
  const signal = AbortSignal.timeout(startTimeoutMs)
  const allocator = { setting: 'hub: auroraAllocatorAddress', address: hub.auroraAllocatorAddress }
  const endpointProblems = [
    ...(await checkLocalNodes(environment, client)),
    ...(await verifyEvmEndpoints(
      { client, chainId: BigInt(evmChainId), contract: allocator, threshold },
      { signal },
    )),
  ]
  if (endpointProblems.length > 0) return endpointProblems
  const isKnown: KnownCode = ({ name }, code) => isKnownCode(name, code)
  const trustedContracts = [
    { name: 'Allocator', ...allocator } as const,
    { name: 'Hub', setting: 'hub: hubAddress', address: hubAddress } as const,
  ]
  const expected = expectedCodes(trustedContracts, { isKnown, codeHashes })
  const foreignCodes = await codeProblems({ client, expected, threshold }, { signal })
  // A contract with unknown code is not asked for its signer: its answer proves nothing.
  if (foreignCodes.length > 0) return foreignCodes
  const contractSigner = await signerOf(contract, signal)
  if (contractSigner === ownSigner) return []
  return [`the allocator's contract takes signatures of ${contractSigner} alone, and the key is ${ownSigner}`]
}

/** Words of a problem for a contract that names no signer. */
const noSigner = 'nobody that it names'
const zeroAddress = `0x${'0'.repeat(40)}`
/** Longest wait for a contract that was just deployed: it names no signer until its initialization is final. */
const initializedWithinMs = 5_000
const pollMs = 250

/**
 * Address whose signatures the contract takes; `noSigner` for code without a signer, which answers with other
 * bytes or an error. A contract that is not initialized tells the zero address, which is waited out first.
 */
async function signerOf(contract: AllocatorContract, signal: AbortSignal): Promise<string> {
  const giveUpAtMs = performance.now() + initializedWithinMs
  try {
    let signerAddress = await contract.signer({ signal })
    while (signerAddress === zeroAddress && performance.now() < giveUpAtMs) {
      await setTimeout(pollMs, undefined, { signal })
      signerAddress = await contract.signer({ signal })
    }
    return signerAddress ?? noSigner
  } catch (error) {
    if (!(error instanceof UpstreamUnavailableError)) throw error
    // Enough endpoints answered a moment ago, when the code was read: so the code itself refuses the call.
    return noSigner
  }
}
