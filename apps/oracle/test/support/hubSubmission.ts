// Brings what oracles answered to the hub's contracts as it is.
import type { Hex } from '@causeway/core'
import { allocatorAbi, genericMappingAbi, hubAbi, hubOracleAbi, type TestNetwork } from '@causeway/localnet'
import { BaseError, ContractFunctionRevertedError, concatHex } from 'viem'

type AnsweredExecution = {
  readonly idempotencyKey: Hex
  readonly actions: readonly Hex[]
  readonly signatures: readonly { readonly signature: Hex }[]
}

/**
 * The execution with its signatures in the order of the answer, through the multisig.
 * @returns `accepted`, or the name of the contract's error
 */
export async function submitExecution(
  network: TestNetwork,
  { idempotencyKey, actions, signatures }: AnsweredExecution,
  finality: { readonly blocks: number } = { blocks: 3 },
): Promise<string> {
  const { oracle, oracleMultisig } = network.deployment.hub
  const signature = concatHex(signatures.map((entry) => entry.signature))
  return submit(network, {
    address: oracle,
    // With the ledger's errors, which the oracle contract passes on.
    abi: [...hubOracleAbi, ...hubAbi],
    functionName: 'execute',
    args: [{ idempotencyKey, actions }, oracleMultisig, signature],
    ...finality,
  })
}

type PayloadParams = {
  readonly chainId: string
  readonly depository: string
  readonly currency: string
  readonly amount: string
  readonly spender: Hex
  readonly recipient: string
  readonly nonce: Hex
  readonly data: Hex
  readonly signatures: readonly { readonly signature: Hex }[]
}

/** The payload parameters of a withdrawal that was initiated, to the allocator. */
export async function submitWithdrawRequest(
  network: TestNetwork,
  params: PayloadParams,
  finality: { readonly blocks: number } = { blocks: 3 },
): Promise<string> {
  const { chainId, amount, recipient, signatures, ...rest } = params
  const request = { ...rest, chainId: BigInt(chainId), amount: BigInt(amount), receiver: recipient }
  return submit(network, {
    address: network.deployment.hub.allocator,
    abi: allocatorAbi,
    functionName: 'submitWithdrawRequest',
    args: [request, concatHex(signatures.map((entry) => entry.signature))],
    ...finality,
  })
}

type AnsweredEntry = {
  readonly user: Hex
  readonly id: Hex
  readonly data: Hex
  readonly nonce: Hex
  readonly signatures: readonly { readonly signature: Hex }[]
}

/** An entry of the generic mapping, through the multisig. */
export async function submitEntry(
  network: TestNetwork,
  { user, id, data, nonce, signatures }: AnsweredEntry,
  finality: { readonly blocks: number } = { blocks: 3 },
): Promise<string> {
  const { genericMapping, oracleMultisig } = network.deployment.hub
  const signature = concatHex(signatures.map((entry) => entry.signature))
  return submit(network, {
    address: genericMapping,
    abi: genericMappingAbi,
    functionName: 'setEntry',
    args: [user, id, data, nonce, oracleMultisig, signature],
    ...finality,
  })
}

/** Payload that the allocator issued; `0x` if none. */
export async function issuedPayload(network: TestNetwork, payloadId: Hex): Promise<Hex> {
  return network.chains.hub.chain.client.readContract({
    address: network.deployment.hub.allocator,
    abi: allocatorAbi,
    functionName: 'payloads',
    args: [payloadId],
  })
}

export async function hubBalance(network: TestNetwork, holder: Hex, hubTokenId: bigint): Promise<bigint> {
  return network.chains.hub.chain.client.readContract({
    address: network.deployment.hub.hub,
    abi: hubAbi,
    functionName: 'balanceOf',
    args: [holder, hubTokenId],
  })
}

type Simulated = Parameters<TestNetwork['chains']['hub']['chain']['client']['simulateContract']>[0]

/** Anybody may submit; the fill wallet has gas on the hub. */
async function submit(
  network: TestNetwork,
  {
    blocks = 3,
    ...call
  }: Pick<Simulated, 'address' | 'abi' | 'functionName' | 'args'> & {
    readonly blocks?: number
  },
) {
  const { publicClient, walletClient } = network.chains.hub.chain.as(network.keys.fillWallet)
  try {
    const { request } = await publicClient.simulateContract({ ...call, account: walletClient.account })
    const hash = await walletClient.writeContract(request)
    while ((await publicClient.request({ method: 'eth_getTransactionReceipt', params: [hash] })) === null);
    await network.mine('hub', blocks)
    return 'accepted'
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const reverted = error.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error
    return reverted.data?.errorName ?? 'reverted'
  }
}
