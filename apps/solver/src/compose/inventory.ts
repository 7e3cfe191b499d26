import type { LinePayingChain } from '@causeway/chains'
import { formatAmount, type VmCodec } from '@causeway/core'
import { createLogger } from '@causeway/http'
import type { ConfiguredSigner } from '@causeway/signer'
import { connectFillWallet } from '../wallet/fillWallet.ts'
import { describeInventory, type Holding, planMoves } from '../wallet/inventoryReport.ts'
import { openChains, type PaidChain } from './chains.ts'
import type { SolverConfig } from './config.ts'
import { openHubKey, openWallet, readFillKeys } from './createSolver.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { openHub } from './hub.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Moves nothing. */
export async function reportInventory(config: SolverConfig, variables: Variables): Promise<string> {
  const logger = createLogger({ service: 'solver', level: 'silent' })
  const signer = await openWallet(variables, logger)
  const files = await loadFiles(config, variables, signer.address)
  const hubKey = await openHubKey(variables, logger)
  const hub = openHub(files, { oracles: config.oracles, signer: hubKey })
  const chains = await openChains(files, readFillKeys(variables), hub, logger)
  try {
    const holdings = await Promise.all(
      chains.paying.flatMap((chain) => {
        const { key, codec } = chain
        const balanceOf = balancesOn(chain, signer)
        return heldCurrencies(files, key, codec).map(
          async ({ address, symbol, decimals, asset, targetShareBps }): Promise<Holding> => ({
            ...{ chain: key, symbol, asset, decimals },
            amount: await balanceOf(address),
            floor: floorOf(files, key, address),
            targetShareBps,
          }),
        )
      }),
    )
    return describeInventory(holdings, planMoves(holdings), formatAmount)
  } finally {
    await Promise.all([chains.close(), hub?.close()])
    await Promise.all([signer.close(), hubKey?.close()])
  }
}

function balancesOn(chain: PaidChain, signer: ConfiguredSigner): (currency: string) => Promise<bigint> {
  if (chain.kind === 'marked') return chain.paying.balanceOf
  if (chain.kind === 'line') return (currency) => coinsOf(chain.paying, currency)
  const { chainId, client, finalBlocks } = chain
  return connectFillWallet({ chainId, client, finalBlocks, signer, nowMs: () => Date.now() }).balanceOf
}

/** Of the line, and beside it. */
async function coinsOf(paying: LinePayingChain, currency: string): Promise<bigint> {
  if (currency !== paying.currency) return 0n
  const { tip } = await paying.look([])
  return (await paying.besideLine()).reduce((sum, { value }) => sum + value, tip.value)
}

function heldCurrencies({ quote }: LoadedFiles, key: string, codec: VmCodec) {
  return (quote.chains[key]?.currencies ?? [])
    .filter(({ address, solver }) => solver || address === codec.nativeCurrency)
    .map(({ address, symbol, decimals, asset, targetShareBps }) => ({
      address: codec.canonicalAddress(address),
      ...{ symbol, decimals, asset, targetShareBps },
    }))
}

function floorOf({ solver }: LoadedFiles, key: string, address: string): bigint {
  return solver.chains[key]?.floors.find(({ currency }) => currency === address)?.amount ?? 0n
}
