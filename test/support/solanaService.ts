import { solanaLibrary } from '@causeway/families/rules'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { createTokenAccount, mintTo, tokenAccount } from '@causeway/localnet/standIns/solana'
import { startTestService, type TestService } from '../../apps/quote-api/test/fixtures/service.ts'
import { type ConfigCopy, copyConfigs } from '../../apps/quote-api/test/serviceSupport/configCopy.ts'
import { type SolanaBed, startSolanaBed } from '../families/solanaSupport/startSolanaBed.ts'

/** The chain id that public clients know. */
export const solanaChainId = 792_703_809
export const sol = '1'.repeat(32)

/**
 * The real service over two EVM chains and a Solana cluster of one: real runtime and token programs, our depository,
 * blocks of ours.
 */
export type SolanaService = {
  readonly network: TestNetwork
  readonly bed: SolanaBed
  /** The fill wallet. */
  readonly solver: SolanaBed['user']
  readonly service: TestService
  readonly url: string
  /** Start configuration of the service; a test that starts a solver beside it may change more. */
  readonly configs: Pick<ConfigCopy, 'directory' | 'edit'>
  stop(): Promise<void>
}

type Json = Record<string, unknown>

export type SolanaServiceChange = {
  readonly headMaxAgeMs?: number
  readonly overrides?: Readonly<Record<string, string>>
  /** Its node tells of new slots; default: they are noticed by the clock. */
  readonly tellsOfSlots?: boolean
  /** Block time of the EVM chains; default: 1. */
  readonly blockTimeSeconds?: number
  /** Stand before the cluster; default: its own one. */
  readonly endpointsOf?: (bed: SolanaBed) => Promise<string>
  /** Makes currencies that are quoted beside SOL and the token of the bed. */
  readonly moreCurrencies?: (bed: SolanaBed, solver: SolanaBed['user']) => Promise<readonly Json[]>
  /** Lists other chains in the quote file. */
  readonly describe?: (quoteFile: unknown) => unknown
}

export async function startSolanaService(change: SolanaServiceChange = {}): Promise<SolanaService> {
  const { variables, stop, ...places } = await startSolanaNetwork(change)
  try {
    const service = await startTestService(places.network, variables)
    const { publicUrl } = await service.listen()
    return {
      ...places,
      service,
      url: publicUrl,
      async stop() {
        await service.stop()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The chains alone, and what a service of one's own needs to be told of them. */
export type SolanaNetwork = Pick<SolanaService, 'network' | 'bed' | 'solver' | 'configs' | 'stop'> & {
  readonly variables: Readonly<Record<string, string>>
}

export async function startSolanaNetwork(change: SolanaServiceChange = {}): Promise<SolanaNetwork> {
  const { blockTimeSeconds = 1, endpointsOf } = change
  const [network, bed, configs] = await Promise.all([
    startTestNetwork({ blockTimeSeconds }),
    startSolanaBed(),
    copyConfigs(),
  ])
  const ticking = setInterval(() => bed.node.tick(BigInt(Math.floor(Date.now() / 1_000))), 400)
  const stopChains = async () => {
    clearInterval(ticking)
    await Promise.all([network.stop(), bed.stop(), configs.remove()])
  }
  try {
    const solver = await fundedSolver(bed)
    const more = (await change.moreCurrencies?.(bed, solver)) ?? []
    const fillWallet = solver.publicKey.toBase58()
    await describeSolana(configs, bed, { fillWallet, headMaxAgeMs: change.headMaxAgeMs ?? 3_600_000, more })
    if (change.describe !== undefined) await configs.edit('quote.local.json', change.describe)
    bed.node.tick(BigInt(Math.floor(Date.now() / 1_000)))
    const variables = {
      CONFIG_DIR: configs.directory,
      SOLANA_RPC_URL: (await endpointsOf?.(bed)) ?? bed.url,
      ...(change.tellsOfSlots === true && { SOLANA_WS_RPC_URL: bed.url.replace('http:', 'ws:') }),
      ...change.overrides,
    }
    return { network, bed, solver, variables, configs, stop: stopChains }
  } catch (error) {
    await stopChains()
    throw error
  }
}

/** An account of its own: whoever pays himself pays nothing. */
async function fundedSolver(bed: SolanaBed): Promise<SolanaService['solver']> {
  const solver = solanaLibrary().Keypair.generate()
  const [{ mint, user }, owner] = [bed, solver.publicKey]
  bed.node.airdrop(owner.toBase58(), 10n ** 11n)
  await bed.send([
    createTokenAccount({ payer: user.publicKey, owner, mint }),
    mintTo({ mint, to: tokenAccount(owner, mint), authority: user.publicKey, amount: 10n ** 12n }),
  ])
  return solver
}

/** Lists the cluster in the configuration as an operator would. */
async function describeSolana(
  configs: ConfigCopy,
  bed: SolanaBed,
  {
    fillWallet,
    headMaxAgeMs,
    more,
  }: { readonly fillWallet: string; readonly headMaxAgeMs: number; readonly more: readonly Json[] },
): Promise<void> {
  await configs.edit('chains.local.json', (json) => {
    const file = Object(json)
    const chains = file.chains.map((chain: Json) =>
      chain['id'] === 'solana' ? { ...chain, depository: bed.depository.program.toBase58() } : chain,
    )
    return { ...file, chains }
  })
  await configs.edit('quote.local.json', (json) => {
    const file = Object(json)
    const held = { solver: true, targetShareBps: 0, source: 'local network' }
    const currencies = [
      {
        address: sol,
        symbol: 'SOL',
        name: 'Solana',
        decimals: 9,
        asset: 'sol',
        ...held,
        targetShareBps: 10_000,
      },
      {
        address: bed.mint.toBase58(),
        symbol: 'USDC',
        name: 'USD Coin',
        decimals: 6,
        asset: 'usdc',
        ...held,
        targetShareBps: 2_000,
      },
      ...more.map((currency) => ({ ...held, ...currency })),
    ]
    const solana = {
      chainId: solanaChainId,
      name: 'solana',
      displayName: 'Solana (local)',
      blockTimeMs: 400,
      headMaxAgeMs,
      feeModel: { kind: 'priority-fee' },
      fillWallet,
      depositAddressProgram: bed.addressProgram.toBase58(),
      pinPolicy: [{ finalized: true }],
      currencies,
    }
    return {
      ...file,
      chains: { ...withShares(file.chains), solana },
    }
  })
}

/** Target shares of the solver's dollars: two fifths on each EVM chain, and one fifth on Solana. */
function withShares(chains: Readonly<Record<string, { readonly currencies: readonly Json[] }>>): Json {
  return Object.fromEntries(
    Object.entries(chains).map(([key, chain]) => [
      key,
      {
        ...chain,
        currencies: chain.currencies.map((currency) =>
          currency['symbol'] === 'USDC' ? { ...currency, targetShareBps: 4_000 } : currency,
        ),
      },
    ]),
  )
}
