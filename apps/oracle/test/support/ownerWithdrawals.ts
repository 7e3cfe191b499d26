// Withdrawal of a hub balance by its owner, against three peered oracles.
import {
  type Hex,
  hubAlias,
  hubTokenId,
  noFillOrRefundDigest,
  ownerRequestDigest,
  withdrawalAddress,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import type { LocalAccount, TestNetwork } from '@causeway/localnet'
import { toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { submitExecution } from './hubSubmission.ts'
import type { OracleTrio } from './oracleTrio.ts'
import { deposit, noOrder, type SignedOrder } from './protocolActors.ts'

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const

export type Answer = { readonly status: number; readonly body: ReturnType<typeof JSON.parse> }

export async function ask(trio: Pick<OracleTrio, 'post'>, path: string, body: object): Promise<Answer> {
  const { status, text } = await trio.post(`/attestations/${path}`, { ...body, requestPeerSignatures: true })
  return { status, body: JSON.parse(text) }
}

export type WithdrawalTerms = {
  readonly owner: LocalAccount
  readonly currency: Hex
  readonly amount: bigint
  readonly recipient: Hex
  readonly nonce: string
}

export type Initiated = {
  /** Body of the withdrawal-address routes. */
  readonly flow: Readonly<Record<string, string>>
  readonly addressRequest: Readonly<Record<string, string>>
  readonly token: bigint
  /** The owner's account on the hub. */
  readonly alias: Hex
  /** The withdrawal address. */
  readonly holder: Hex
}

/**
 * A deposit without order, minted to its owner and moved to the withdrawal address.
 * @param version of the route that moves it
 */
export async function initiate(
  network: TestNetwork,
  trio: Pick<OracleTrio, 'post'>,
  { owner, currency, amount, recipient, nonce }: WithdrawalTerms,
  version: 'v1' | 'v2' = 'v2',
): Promise<Initiated> {
  const transactionId = await deposit(network, 'base', owner, { currency, amount, id: noOrder })
  const minted = await ask(trio, 'depository-deposits/v1', { chainId: 'base', transactionId })
  await accept(network, minted)
  const request = {
    chainId: 'base',
    currency,
    amount: amount.toString(),
    recipient,
    nonce,
    ownerChainId: 'base',
    owner: owner.address,
  }
  const hash = toHex(ownerRequestDigest(request))
  const ownerSignature = await privateKeyToAccount(owner.privateKey).sign({ hash })
  const flow = { ...request, ownerSignature }
  await accept(network, await ask(trio, `withdrawal-initiation/${version}`, flow))
  const alias = hubAlias(base, owner.address)
  const { depository } = network.deployment.base
  return {
    flow,
    addressRequest: {
      chainId: 'base',
      currency,
      recipient,
      withdrawalNonce: nonce,
      withdrawer: owner.address,
      withdrawerChainId: 'base',
    },
    token: hubTokenId(base, currency),
    alias,
    holder: withdrawalAddress(base, {
      depository,
      currency,
      recipient,
      ownerAlias: alias,
      nonce: BigInt(nonce),
    }),
  }
}

/** Brings an answer's execution to the hub. @throws Error when there is none, or the hub refuses */
export async function accept(network: TestNetwork, { status, body }: Answer): Promise<void> {
  if (status !== 200 || body.execution === undefined) throw new Error(`${status} ${JSON.stringify(body)}`)
  const outcome = await submitExecution(network, body.execution)
  if (outcome !== 'accepted') throw new Error(outcome)
}

/** Payload id of what the oracles signed for the allocator. */
export function payloadIdOf(payloadParams: {
  readonly chainId: string
  readonly amount: string
  readonly depository: string
  readonly currency: string
  readonly spender: Hex
  readonly recipient: string
  readonly nonce: Hex
  readonly data: Hex
}): Hex {
  const { chainId, amount, ...rest } = payloadParams
  return withdrawRequestPayloadId({ ...rest, chainId: BigInt(chainId), amount: BigInt(amount) })
}

/** Asks the oracles to attest a promise that is signed with the solver's key. */
export async function promiseNoFill(
  network: TestNetwork,
  trio: Pick<OracleTrio, 'post'>,
  { order: { solver }, orderId }: SignedOrder,
): Promise<Answer> {
  const { fillWallet } = network.keys
  const promised = { solverChainId: 'base', solver: fillWallet.address, orderId }
  const hash = toHex(noFillOrRefundDigest(promised, network.chains.base.chainId))
  const signature = await privateKeyToAccount(fillWallet.privateKey).sign({ hash })
  return ask(trio, 'signatures/no-fill-or-refund/v1', { ...promised, solver, signature })
}

/**
 * Both clocks go on together, by twice `recoveryDelaySeconds` of configs/chains.hub.local.json. A chain's clock goes on
 * by a second per block at least, so base, which mines more of them, is some seconds ahead of the hub.
 */
export async function passRecoveryDelay(network: TestNetwork): Promise<void> {
  for (const chain of ['base', 'hub'] as const) {
    await network.chains[chain].chain.node.increaseTime({ seconds: 120 })
    await network.mine(chain, 3)
  }
}
