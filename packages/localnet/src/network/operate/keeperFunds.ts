import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem'
import { tokenAbi, wrappedNativeAbi } from '../../contracts/abis.generated.ts'
import type { ChainDeployment } from '../../contracts/deployment.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import type { LocalChain, LocalTransaction } from '../../nodes/localChain.ts'
import type { PricedToken } from './poolTarget.ts'

/** One user chain with the keys that act on it. */
export type OperatedChain = {
  readonly chain: LocalChain
  readonly deployment: ChainDeployment
  readonly keys: LocalKeys
}

/** The most that a swap may take from the keeper, in smallest units. */
export type Spending = { readonly token: PricedToken; readonly amount: bigint }

/** Mints or wraps what the keeper lacks of all that the swaps together may spend. */
export async function provideTokens(
  { chain, deployment, keys }: OperatedChain,
  spends: readonly Spending[],
): Promise<void> {
  for (const [address, amount] of totals(spends)) {
    const owned = await chain.client.readContract({
      address,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [keys.keeper.address],
    })
    if (owned >= amount) continue
    if (address === deployment.wrappedNative) await wrap({ chain, deployment, keys }, amount - owned)
    else await mint(chain, keys, { token: address, amount: amount - owned })
  }
}

function totals(spends: readonly Spending[]): ReadonlyMap<Hex, bigint> {
  const sums = new Map<Hex, bigint>()
  for (const { token, amount } of spends) sums.set(token.address, (sums.get(token.address) ?? 0n) + amount)
  return sums
}

async function wrap({ chain, deployment, keys }: OperatedChain, amountWei: bigint): Promise<void> {
  const { address } = keys.keeper
  const balanceWei = await chain.client.getBalance({ address })
  await chain.node.setBalance({ address, value: balanceWei + amountWei })
  const data = encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' })
  await chain.send(keys.keeper, [
    { what: 'wrapping native coin', to: deployment.wrappedNative, data, valueWei: amountWei },
  ])
}

async function mint(
  chain: LocalChain,
  keys: LocalKeys,
  { token, amount }: { readonly token: Hex; readonly amount: bigint },
): Promise<void> {
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'mint',
    args: [[{ to: keys.keeper.address, amount }]],
  })
  await chain.send(keys.deployer, [{ what: 'mint for the keeper', to: token, data }])
}

/** Approvals that the keeper still has to give to the swap router; one that is half used is given again. */
export async function neededApprovals(
  { chain, deployment, keys }: OperatedChain,
  spends: readonly Spending[],
): Promise<readonly LocalTransaction[]> {
  const spender = deployment.uniswapV3.swapRouter
  const tokens = [...totals(spends).keys()]
  const allowances = await Promise.all(
    tokens.map((address) =>
      chain.client.readContract({
        address,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [keys.keeper.address, spender],
      }),
    ),
  )
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, maxUint256] })
  return tokens
    .filter((_, index) => (allowances[index] ?? 0n) < maxUint256 / 2n)
    .map((to) => ({ what: 'approval of the swap router', to, data }))
}
