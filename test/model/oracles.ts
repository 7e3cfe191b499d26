// Two honest oracles with endpoints of their own and one peer that signs whatever it is asked for. The attestations
// are the shipped ones, over the shipped readers.
import { DomainError, type Execution, type Hex, Secret, type SigningRequest } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { createAllocatorReader, createEthereumFactsReader, createHubReader } from '@causeway/families'
import { signingDigest } from '@causeway/families/rules'
import type { LocalAccount } from '@causeway/localnet'
import { createRawKeySigner, recoverSigner } from '@causeway/signer'
import type {
  AttestationContext,
  Attested,
  AttestedChain,
} from '../../apps/oracle/src/attestations/context.ts'
import { createSettledOrders, type SettledOrders } from '../../apps/oracle/src/caps/settledOrders.ts'
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
      id,
      ...mainNetwork('ethereum-vm'),
      hubChainId: String(chainNumbers[id]),
      depository: places[id].depository,
    },
  ])
  return new Map(entries)
}

/** The one fill contract that orders choose is ours. */
export const recordsPayments = () => true

export function readerEntry(
  { places }: Pick<Network, 'places'>,
  id: (typeof userChainIds)[number],
  blocks: number,
) {
  const { depository, fillContract, strangers } = places[id]
  return {
    id,
    depository,
    fillContracts: [fillContract],
    ...(strangers !== undefined && { fillPayers: [strangers.accounts[2]] }),
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

/** Transactions that a settlement is asked for by. */
function paymentsIn(request: object): readonly string[] {
  if ('fill' in request) return idsIn([request.fill])
  return 'refunds' in request ? idsIn(request.refunds) : []
}

function idsIn(named: unknown): readonly string[] {
  const entries: readonly unknown[] = Array.isArray(named) ? named : []
  return entries.flatMap((one) =>
    typeof one === 'object' && one !== null && 'transactionId' in one ? [String(one.transactionId)] : [],
  )
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
    const { unsigned, settlement: settles } = await attest(request, by.context, { signal })
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
  /** Transactions that an honest oracle attested as a fill or a refund. */
  readonly attested = new Set<string>()
  /** The bad peer signs as well: then one honest oracle is enough. */
  peerJoins = true

  constructor(network: Network, rules: Rules) {
    const [first, second, third] = network.keys.oracles
    this.#network = network
    const open = (name: string, account: LocalAccount) => {
      const oracle = honestOracle(name, network, account, rules)
      return {
        ...oracle,
        attest: async <Name extends Kind>(kind: Name, request: RequestOf<Name>) => {
          const answer = await oracle.attest(kind, request)
          if (answer.ok) for (const id of paymentsIn(request)) this.attested.add(id)
          return answer
        },
      }
    }
    this.honest = [open('one', first), open('two', second)]
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

  /** Signature of the bad peer alone, as often as it likes. */
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
