import {
  type ChainClient,
  checkLocalNodes,
  connectQuotingChain,
  examineClock,
  examineEndpoints,
  type FamilyChain,
  headSeconds,
  isReadable,
  openFamilyChain,
  type PayingChain,
  payingFamily,
  type RegisteredChain,
} from '@causeway/chains'
import { isKnownCode } from '@causeway/contracts/codes'
import {
  ConfigurationError,
  type ContractChain,
  codecOf,
  DomainError,
  type FinalBlocks,
  type Findings,
  type Hex,
  isContractChain,
  type QuoteChain,
  type Secret,
  type SolverChainPolicy,
  type VmCodec,
} from '@causeway/core'
import type { LoadedFiles } from './files.ts'

/** A chain that the solver pays on, with what reads it. */
export type PaidChain = ContractPaidChain | MarkedPaidChain

type PaidChainParts = {
  readonly key: string
  readonly chainId: number
  readonly codec: VmCodec
  readonly policy: SolverChainPolicy
}

/** Paid on through a fill contract. */
export type ContractPaidChain = PaidChainParts & {
  readonly kind: 'contract'
  readonly config: ContractChain & { readonly fillContract: Hex }
  readonly client: ChainClient
  readonly finalBlocks: FinalBlocks
}

/** Paid on by transactions that mark what they pay. */
export type MarkedPaidChain = PaidChainParts & {
  readonly kind: 'marked'
  readonly paying: PayingChain
  readonly landsWithinSeconds: number
}

export type OpenChains = {
  readonly paying: readonly PaidChain[]
  /** Of every chain of the quote file that has endpoints: prices stand on them too. */
  readonly clients: ReadonlyMap<string, ChainClient>
  close(): Promise<void>
}

const checkTimeoutMs = 5_000

/**
 * Opens one set of endpoints per chain, and compares those that are paid on with the configuration.
 * @param ed25519 the fill wallet's key on chains of that curve
 * @throws ConfigurationError for what contradicts it
 */
export async function openChains(
  { chains, quote, solver }: LoadedFiles,
  ed25519: Secret | undefined,
): Promise<OpenChains> {
  const clients = new Map<string, ChainClient>()
  for (const key of Object.keys(quote.chains)) {
    const chain = chains.chains.get(key)
    const client = chain && connectQuotingChain(chain)
    if (client !== undefined) clients.set(key, client)
  }
  const families: FamilyChain[] = []
  const close = async () => {
    await Promise.all([...families, ...clients.values()].map((one) => one.close()))
  }
  try {
    const paying = Object.entries(solver.chains).map(([key, policy]): PaidChain => {
      const [chain, config, client] = [chains.chains.get(key), quote.chains[key], clients.get(key)]
      if (chain === undefined || config === undefined || client === undefined) throw cannotBePaidOn(key)
      const family = openFamily(chain)
      families.push(family)
      const parts = { key, chainId: config.chainId, codec: codecOf(chain), policy }
      return isContractChain(config)
        ? openContractChain(parts, { config, client, family })
        : openMarkedChain(parts, { chain, config, client, key: ed25519, sharing: solver.sharing })
    })
    const called = [...clients].flatMap(([key, client]) => {
      const config = quote.chains[key]
      return config !== undefined && isContractChain(config) ? [client] : []
    })
    await refuseContradictions(chains.environment, families, called)
    return { paying, clients, close }
  } catch (error) {
    await close()
    throw error
  }
}

const cannotBePaidOn = (key: string) => new ConfigurationError(`solver: chains.${key} cannot be paid on`)

function openContractChain(
  parts: PaidChainParts,
  opened: { readonly config: ContractChain; readonly client: ChainClient; readonly family: FamilyChain },
): ContractPaidChain {
  const { config, client, family } = opened
  const { finalBlocks } = family.reader
  if (finalBlocks === undefined)
    throw new ConfigurationError(`solver: chains.${parts.key} has no final blocks`)
  const { fillContract } = config
  if (fillContract === undefined)
    throw new ConfigurationError(`solver: chains.${parts.key} has no fillContract`)
  return { ...parts, kind: 'contract', config: { ...config, fillContract }, client, finalBlocks }
}

function openMarkedChain(
  parts: PaidChainParts,
  opened: {
    readonly chain: RegisteredChain
    readonly config: QuoteChain
    readonly client: ChainClient
    readonly key: Secret | undefined
    readonly sharing: LoadedFiles['solver']['sharing']
  },
): MarkedPaidChain {
  const { chain, config, client, key, sharing } = opened
  const family = payingFamily(chain)
  if (family === undefined) throw cannotBePaidOn(parts.key)
  if (key === undefined)
    throw new ConfigurationError(
      `ED25519_PRIVATE_KEY or ED25519_PRIVATE_KEY_FILE is required: chains.${parts.key} knows no other curve.`,
    )
  // What is signed there has no deadline, so that a turn would not end what was signed in it.
  if (sharing !== undefined)
    throw new ConfigurationError(
      `solver: chains.${parts.key} cannot be shared by turns: remove it, or sharing`,
    )
  const paying = family.open({ client, key })
  if (config.fillWallet !== undefined && config.fillWallet !== paying.address)
    throw new ConfigurationError(
      `quote: chains.${parts.key}.fillWallet is not the account of ED25519_PRIVATE_KEY, ${paying.address}`,
    )
  return { ...parts, kind: 'marked', paying, landsWithinSeconds: family.landsWithinSeconds }
}

function openFamily(chain: RegisteredChain): FamilyChain {
  if (!isReadable(chain)) throw new ConfigurationError(`chains: ${chain.id} cannot be read`)
  return openFamilyChain(chain, {
    finalEntriesMax: 0,
    isKnownCode: ({ name }, code) => isKnownCode(name, code),
  })
}

/** What is wrong at start stops the start; what is silent is tried again later. */
async function refuseContradictions(
  environment: string,
  families: readonly FamilyChain[],
  clients: readonly ChainClient[],
): Promise<void> {
  const problems = await contradictions(environment, families, clients)
  if (problems.length > 0) throw ConfigurationError.listing('Chains contradict the configuration:', problems)
}

async function contradictions(
  environment: string,
  families: readonly FamilyChain[],
  clients: readonly ChainClient[],
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(checkTimeoutMs)
  const found = await Promise.all([
    checkLocalNodes(environment, [...clients]),
    ...families.map(async (family) => {
      try {
        return await family.verify(signal)
      } catch (error) {
        if (error instanceof DomainError || signal.aborted) return []
        throw error
      }
    }),
  ])
  return found.flat()
}

/** Compares the chains that are paid on and all that are read with the configuration, and closes them. */
export async function examineChains(
  { chains, quote, solver }: LoadedFiles,
  nowMs: () => number,
  found: Findings,
): Promise<void> {
  const read = Object.keys(quote.chains).flatMap((key) => {
    const chain = chains.chains.get(key)
    const client = chain && connectQuotingChain(chain)
    return chain === undefined || client === undefined ? [] : [{ chain, client }]
  })
  const families = Object.keys(solver.chains).flatMap((key) => {
    const chain = chains.chains.get(key)
    return chain !== undefined && isReadable(chain) ? [openFamily(chain)] : []
  })
  try {
    const [problems] = await Promise.all([
      contradictions(chains.environment, families, []),
      ...read.map(({ client }) => examineEndpoints(client, found)),
      examineClock(
        read.map(
          ({ chain, client }) =>
            () =>
              headSeconds(chain, client),
        ),
        nowMs,
        found,
      ),
    ])
    found.problems(problems, 'chain-contradicts')
  } finally {
    await Promise.all([...families, ...read.map(({ client }) => client)].map((one) => one.close()))
  }
}
