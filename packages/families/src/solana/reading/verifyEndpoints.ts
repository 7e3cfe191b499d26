import type { EndpointView, QuorumClient } from '@causeway/rpc'
import { askEnough, endpointOf, verifyLocalEndpoints } from '@causeway/rpc'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import { parseGenesis, parseIsProgram, parseVersion } from './answers.ts'
import { genesisCall, programCall, versionCall } from './requests.ts'

/** Facts that the endpoints of a cluster must show. */
export type SolanaExpectation = {
  readonly quorum: Pick<QuorumClient, 'chainId' | 'threshold' | 'askEach'>
  /** Genesis hash of the cluster; without it, all endpoints must name the same. */
  readonly network: string | undefined
  /** Program that must be there on every endpoint. */
  readonly depository: string
}

type ClusterAnswer = { readonly genesisHash: string; readonly isProgram: boolean }

/**
 * Asks every endpoint for its cluster and for the depository program: each may feed a signature.
 * @returns problems; empty when all that answered fit
 * @throws UpstreamUnavailableError when fewer endpoints answer than the threshold
 * @source rule F-142
 */
export async function verifySolanaEndpoints(
  expectation: SolanaExpectation,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return (await solanaEndpointFindings(expectation, signal)).map(({ problem }) => problem)
}

/**
 * As `verifySolanaEndpoints`, with setting and value of each problem. @throws UpstreamUnavailableError when too few
 * endpoints answer
 */
export async function solanaEndpointFindings(
  { quorum, network, depository }: SolanaExpectation,
  signal: AbortSignal,
): Promise<readonly ChainFinding[]> {
  const { chainId } = quorum
  const answered = await askEnough(quorum, (view, viewSignal) => ask(view, depository, viewSignal), signal)
  const expected = network ?? answered[0]?.said.genesisHash
  return answered.flatMap(({ alias, said: { genesisHash, isProgram } }): readonly ChainFinding[] => {
    const endpointName = endpointOf(chainId, alias)
    if (genesisHash !== expected) {
      const problem = `${endpointName} is on another cluster: its genesis hash is ${genesisHash}`
      const [setting, value] = [`chains: ${chainId}.additionalData.network`, expected ?? '']
      return [{ kind: 'network', setting, value, said: `${genesisHash} at ${alias}`, problem }]
    }
    if (isProgram) return []
    const setting = `chains: ${chainId}.depository`
    const problem = `${endpointName} shows no program at ${setting}`
    return [{ kind: 'code', setting, value: depository, said: `no program at ${alias}`, problem }]
  })
}

async function ask(view: EndpointView, depository: string, signal: AbortSignal): Promise<ClusterAnswer> {
  const [genesis, program] = await view.ask([genesisCall(), programCall(depository)], signal)
  return { genesisHash: parseGenesis(genesis), isProgram: parseIsProgram(program) }
}

/** Problems of a local start: endpoints without LiteSVM. @throws UpstreamUnavailableError when too many are silent */
export function verifyLocalCluster(
  quorum: Pick<QuorumClient, 'chainId' | 'threshold' | 'askEach'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return verifyLocalEndpoints(
    quorum,
    async (view, viewSignal) => parseVersion((await view.ask([versionCall()], viewSignal))[0]),
    (version) => (version.startsWith('litesvm') ? undefined : 'is no node of a local network'),
    signal,
  )
}
