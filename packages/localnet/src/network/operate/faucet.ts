import type { Hex } from '@causeway/core'
import { encodeFunctionData } from 'viem'
import { tokenAbi } from '../../contracts/abis.generated.ts'
import type { TokenSymbol } from '../../contracts/deployment.ts'
import { chainKeys } from '../chainPlan.ts'
import type { OperatedNetwork } from './operatedNetwork.ts'

const nativeWei = 10n * 10n ** 18n
/** 10,000 USD of each at the first prices. */
const tokenAmounts: Readonly<Record<TokenSymbol, bigint>> = {
  USDC: 10_000n * 10n ** 6n,
  USDX: 10_000n * 10n ** 6n,
  TIDE: 2_500n * 10n ** 18n,
}
const symbols: readonly TokenSymbol[] = ['USDC', 'USDX', 'TIDE']

/** Adds 10 native coins on every chain, and 10,000 USD of each token on the user chains. */
export async function dispense(network: OperatedNetwork, account: Hex): Promise<void> {
  const { chains, deployment, keys } = network
  await Promise.all(
    chainKeys.map(async (key) => {
      const { client, node } = chains[key].chain
      const balanceWei = await client.getBalance({ address: account })
      await node.setBalance({ address: account, value: balanceWei + nativeWei })
    }),
  )
  await Promise.all(
    (['base', 'optimism'] as const).map((key) =>
      chains[key].chain.send(
        keys.deployer,
        symbols.map((symbol) => ({
          what: `mint of ${symbol}`,
          to: deployment[key].tokens[symbol],
          data: encodeFunctionData({
            abi: tokenAbi,
            functionName: 'mint',
            args: [[{ to: account, amount: tokenAmounts[symbol] }]],
          }),
        })),
      ),
    ),
  )
}
