// Two honest oracles with endpoints of their own and one peer that signs whatever it is asked for. The attestations
// are the shipped ones, over the shipped readers.
import {
  DomainError,
  type Execution,
  type Hex,
  mainNetwork,
  Secret,
  type SigningRequest,
  signingDigest,
} from '@causeway/core'
import type { LocalAccount } from '@causeway/localnet'
import { createRawKeySigner, recoverSigner } from '@causeway/signer'
import type {
  AttestationContext,
  Attested,
  AttestedChain,
} from '../../apps/oracle/src/attestations/context.ts'
import { createSettledOrders, type SettledOrders } from '../../apps/oracle/src/caps/settledOrders.ts'
import {
  createAllocatorReader,
  createEthereumFactsReader,
  createHubReader,
} from '../../packages/chains/src/index.ts'
import { toHex } from './contracts/contractModel.ts'
import { endpointsOf, type Liar } from './endpoints.ts'
import { type ChainId, chainNumbers, type Network, userChainIds } from './network.ts'
import { attestations, type Kind, type RequestOf, type ResponseOf, type Rules } from './rules.ts'
import { joined } from './signing.ts'

/** Blocks behind the newest that no reorganization reaches. */
export const finalityBlocks = 2
const hubId = 'relay'

export type Outcome<Response> =
  | { readonly ok: true; readonly response: Response }
  | { readonly ok: false; readonly code: string; readonly isDenied: boolean }

export type Oracle = {
  readonly liars: Readonly<Record<ChainId, Liar>>
  attest<Name extends Kind>(kind: Name, request: RequestOf<Name>): Promise<Outcome<ResponseOf<Name>>>
  sign(request: SigningRequest): Promise<Hex>
}

function attestedChains({ places }: Pick<Network, 'places'>): ReadonlyMap<string, AttestedChain> {
  const entries = userChainIds.map((id): [string, AttestedChain] => [
    id,
    {
      ...{ id, ...mainNetwork('ethereum-vm'), hubChainId: String(chainNumbers[id]) },
      depository: places[id].depository,
    },
  ])
  return new Map(entries)
}

/** The model knows no code, and its fill contract is ours. */
export const recordsPayments = () => true

export function readerEntry(
  { places }: Pick<Network, 'places'>,
  id: (typeof userChainIds)[number],
  blocks: number,
) {
  return {
    ...{ id, depository: places[id].depository, fillContracts: [places[id].fillContract] },
    finality: { mode: 'depth' as const, blocks },
  }
}

function hubDomains({ places }: Pick<Network, 'places'>) {
  const { oracle, allocator } = places.hub
  return {
    executionDomain: { chainId: chainNumbers.hub, verifyingContract: oracle, version: '2' },
    withdrawRequestDomain: { chainId: chainNumbers.hub, verifyingContract: allocator },
  }
}

function honestOracle(name: string, network: Network, account: LocalAccount, rules: Rules): Oracle {
  const { chains, places } = network
  const endpoints = {
    base: endpointsOf(name, chains.base),
    optimism: endpointsOf(name, chains.optimism),
    hub: endpointsOf(name, chains.hub),
  }
  const readers = new Map(
    userChainIds.map((id) => {
      const { quorum } = endpoints[id]
      const chain = readerEntry(network, id, finalityBlocks)
      return [
        id as string,
        rules.readerOf(createEthereumFactsReader({ chain, quorum, recordsPayments }), chains[id]),
      ]
    }),
  )
  const { quorum } = endpoints.hub
  const { allocator: allocatorAddress, hub: hubAddress, oracle: oracleAddress } = places.hub
  const rule = { mode: 'depth', tag: 'finalized', blocks: BigInt(finalityBlocks), seconds: 0n } as const
  const issued = createAllocatorReader({ chainId: 'hub', quorum, allocatorAddress, keys: 'own', rule })
  const context: Omit<AttestationContext, 'allocator'> = {
    chains: attestedChains(network),
    networkOf: () => mainNetwork('ethereum-vm'),
    hub: { id: hubId, ...hubDomains(network) },
    hubBalances: rules.balancesOf(createHubReader({ quorum, oracleAddress, hubAddress, rule })),
    readerOf(id) {
      const reader = readers.get(id)
      if (reader === undefined) throw new Error(`no chain ${id}`)
      return reader
    },
    recoverSigner,
  }
  const signer = createRawKeySigner({ privateKey: new Secret(account.privateKey) })
  const orders = rules.settledOf(createSettledOrders())
  return {
    liars: { base: endpoints.base.liar, optimism: endpoints.optimism.liar, hub: endpoints.hub.liar },
    async attest(kind, request) {
      const allocator = rules.allocatorOf({ keys: 'own', readIssued: issued.readIssued }, request)
      return outcomeOf(kind, request, { context: { ...context, allocator }, orders })
    },
    sign: (request) => signer.sign(request),
  }
}

async function outcomeOf<Name extends Kind>(
  kind: Name,
  request: RequestOf<Name>,
  by: { readonly context: AttestationContext; readonly orders: Pick<SettledOrders, 'admit'> },
): Promise<Outcome<ResponseOf<Name>>> {
  // CAST: the attestation of this kind takes the request of this kind.
  const attest = attestations[kind] as (
    ...given: [RequestOf<Name>, AttestationContext, { signal: AbortSignal }]
  ) => Promise<Attested<ResponseOf<Name>>>
  try {
    const { signal } = new AbortController()
    const { unsigned, settles } = await attest(request, by.context, { signal })
    const execution = 'execution' in unsigned ? unsigned.execution : undefined
    const isHeld =
      settles !== undefined && execution !== undefined && !by.orders.admit(settles, execution.idempotencyKey)
    return { ok: true, response: isHeld ? { ...unsigned, execution: undefined } : unsigned }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { ok: false, code: error.code, isDenied: error.kind === 'invalid_request' }
  }
}

export type SignedExecution = { readonly execution: Execution; readonly signature: Hex }

/** All oracles of the hub, and how many honest ones sign before the bad peer joins in. */
export class Oracles {
  readonly honest: readonly [Oracle, Oracle]
  readonly #peer: Oracle['sign']
  readonly #network: Network
  /** The bad peer signs as well: then one honest oracle is enough. */
  peerJoins = true

  constructor(network: Network, rules: Rules) {
    const [first, second, third] = network.keys.oracles
    this.#network = network
    this.honest = [honestOracle('one', network, first, rules), honestOracle('two', network, second, rules)]
    const peer = createRawKeySigner({ privateKey: new Secret(third.privateKey) })
    this.#peer = (request) => peer.sign(request)
  }

  /** The answer of the first oracle; with the second asked where the bad peer does not help. */
  async attest<Name extends Kind>(kind: Name, request: RequestOf<Name>): Promise<Outcome<ResponseOf<Name>>> {
    const [first, second] = this.honest
    const answer = await first.attest(kind, request)
    if (!answer.ok || this.peerJoins) return answer
    const other = await second.attest(kind, request)
    return other.ok ? answer : other
  }

  async signExecution({ idempotencyKey, actions }: Execution): Promise<SignedExecution> {
    const execution = { idempotencyKey, actions }
    const { executionDomain: domain } = hubDomains(this.#network)
    return { execution, signature: await this.#joined({ purpose: 'execution', domain, execution }) }
  }

  async signWithdrawRequest(request: Extract<SigningRequest, { purpose: 'withdraw-request' }>['request']) {
    const { withdrawRequestDomain: domain } = hubDomains(this.#network)
    return this.#joined({ purpose: 'withdraw-request', domain, request })
  }

  /** What the bad peer can make alone: its signature, as often as it likes. */
  async peerAlone({ idempotencyKey, actions }: Execution): Promise<SignedExecution> {
    const execution = { idempotencyKey, actions }
    const { executionDomain: domain } = hubDomains(this.#network)
    const signature = await this.#peer({ purpose: 'execution', domain, execution })
    return { execution, signature: `${signature}${signature.slice(2)}` }
  }

  async #joined(request: SigningRequest): Promise<Hex> {
    const [first, second] = this.honest
    const signatures = await Promise.all([
      first.sign(request),
      this.peerJoins ? this.#peer(request) : second.sign(request),
    ])
    return joined(toHex(signingDigest(request)), signatures)
  }
}
