// Contracts that the calls of an order meet on a chain of a session: a lending pool, and the one that a large wallet
// has its users' delegations redeemed by.
import { bytesToHex, type Hex } from '@causeway/core'
import {
  delegationManagerAbi,
  type LocalAccount,
  lendingMarketAbi,
  loadArtifacts,
  type Session,
} from '@causeway/localnet'
import {
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  maxUint256,
  parseAbiParameters,
  toHex,
} from 'viem'
import type { UserChain } from './sessionBed.ts'

/** Address of the wallet's contract on public chains. @source github.com/MetaMask/delegation-framework */
const delegationManager: Hex = '0xdb9b1e94b5b69df7e401ddbede43491141047db3'

/** As clients send them. */
export type SentCall = { readonly to: Hex; readonly data: Hex; readonly value: string }

const call = (to: Hex, data: Hex, value = '0'): SentCall => ({ to, data, value })

export async function placeCallTargets(session: Session, chainKey: UserChain) {
  const { chain } = session.network.chains[chainKey]
  const artifacts = await loadArtifacts()
  const market = bytesToHex(crypto.getRandomValues(new Uint8Array(20)))
  await chain.node.setCode({ address: market, bytecode: artifacts.LendingMarket.runtimeBytecode })
  await chain.node.setCode({
    address: delegationManager,
    bytecode: artifacts.DelegationManager.runtimeBytecode,
  })
  const transfer = (token: Hex, to: Hex, amount: bigint) =>
    call(token, encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }))
  const approve = (token: Hex, spender: Hex, amount: bigint) =>
    call(token, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] }))
  return {
    market,
    approve: (token: Hex, amount = maxUint256) => approve(token, market, amount),
    supply: (token: Hex, amount: bigint, onBehalfOf: Hex) =>
      call(
        market,
        encodeFunctionData({
          abi: lendingMarketAbi,
          functionName: 'supply',
          args: [token, amount, onBehalfOf, 0],
        }),
      ),
    supplyAll: (token: Hex, onBehalfOf: Hex) =>
      call(
        market,
        encodeFunctionData({ abi: lendingMarketAbi, functionName: 'supplyAll', args: [token, onBehalfOf] }),
      ),
    supplied: (token: Hex, holder: Hex) =>
      chain.client.readContract({
        address: market,
        abi: lendingMarketAbi,
        functionName: 'supplied',
        args: [token, holder],
      }),
    /** A user's delegation to have his tokens supplied, and the calls that hand them to him and redeem it. */
    async delegated(token: Hex, amount: bigint, user: LocalAccount): Promise<readonly SentCall[]> {
      const execution = encodeAbiParameters(parseAbiParameters('address, address, uint256'), [
        ...([token, market, amount] as const),
      ])
      const agree = encodeFunctionData({
        abi: delegationManagerAbi,
        functionName: 'agree',
        args: [execution],
      })
      await chain.send(user, [
        { what: 'delegation', to: delegationManager, data: agree },
        { what: 'allowance', ...approve(token, delegationManager, amount) },
      ])
      const redeem = encodeFunctionData({
        abi: delegationManagerAbi,
        functionName: 'redeemDelegations',
        args: [
          [encodeAbiParameters(parseAbiParameters('address'), [user.address])],
          [toHex(0, { size: 32 })],
          [execution],
        ],
      })
      // The wallet writes values in hex.
      return [transfer(token, user.address, amount), call(delegationManager, redeem)].map((one) => ({
        ...one,
        value: '0x0',
      }))
    },
  }
}
