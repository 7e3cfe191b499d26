import {
  type Hex,
  hubAlias,
  hubTokenId,
  ownerRequestDigest,
  type WithdrawRequest,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { payloadHashes } from '@causeway/families/rules'
import {
  allocatorAbi,
  attestedExecutionSchema,
  hubAbi,
  type OperatedNetwork,
  payloadCallData,
  submitExecution,
} from '@causeway/localnet'
import { concatHex, encodeFunctionData, isHex, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { type FilledRequest, quorum, type Stage, StageFailure, until } from './stages.ts'

const hex = z
  .string()
  .refine((text) => isHex(text))
  // CAST: the check above is that of Hex.
  .transform((text) => text as Hex)
/** Execution signed by a quorum: an oracle answers alone while its peers have not read the same block. */
const quorumExecutionSchema = attestedExecutionSchema.refine(
  ({ signatures }) => signatures.length >= quorum,
  'too few oracles have signed yet',
)
const executedSchema = z.object({ execution: quorumExecutionSchema })
const depositSchema = executedSchema.extend({
  messages: z
    .array(
      z.object({ result: z.object({ onchainId: z.string(), depositId: z.string(), amount: z.string() }) }),
    )
    .min(1),
})
const initiatedSchema = z.object({
  payloadParams: z.object({
    chainId: z.string(),
    depository: z.string(),
    currency: z.string(),
    amount: z.string(),
    spender: hex,
    recipient: z.string(),
    nonce: hex,
    data: hex,
    signatures: z.array(z.object({ signature: hex })).min(quorum),
  }),
})
const withdrawalSchema = z.object({ status: z.number(), execution: quorumExecutionSchema.optional() })

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') }

/**
 * The end of the solver's money: what its fill earned is settled on the hub, taken out by the owner of the
 * balance (the order signer, whom the orders name as solver), issued by the allocator, paid by the
 * depository, and burned.
 */
export function withdrawalStages(
  network: OperatedNetwork,
  oracleUrl: string,
  filled: () => FilledRequest,
): readonly Stage[] {
  const withdrawal = new Withdrawal(network, oracleUrl)
  return [
    { name: 'settled', run: () => withdrawal.settle(filled()) },
    { name: 'withdrawal requested', run: () => withdrawal.request(filled()) },
    { name: 'withdrawal issued', run: () => withdrawal.issue() },
    { name: 'withdrawal executed', run: () => withdrawal.execute() },
    { name: 'withdrawal burned', run: () => withdrawal.burn() },
  ]
}

class Withdrawal {
  readonly #network: OperatedNetwork
  readonly #oracleUrl: string
  /** The owner of the balance, as the hub knows it. */
  readonly #alias: Hex
  #amount = 0n
  #flow: Readonly<Record<string, string>> = {}
  #issued: { readonly request: WithdrawRequest; readonly payloadId: Hex } | undefined
  #payout: Hex = '0x'

  constructor(network: OperatedNetwork, oracleUrl: string) {
    this.#network = network
    this.#oracleUrl = oracleUrl
    this.#alias = hubAlias(base, network.keys.orderSigner.address)
  }

  async settle({ order, orderId, orderSignature, deposit, fill }: FilledRequest): Promise<string> {
    const deposited = await patiently(() =>
      this.#ask('depository-deposits/v1', depositSchema, { chainId: 'base', transactionId: deposit }),
    )
    await submitExecution(this.#network, deposited.execution)
    const own = deposited.messages.find(({ result }) => result.depositId === orderId)
    if (own === undefined) throw new StageFailure('the deposit names another order')
    this.#amount = BigInt(own.result.amount)
    const { onchainId } = own.result
    const before = await this.#balance()
    const settled = await patiently(() =>
      this.#ask('solver-fills/v1', executedSchema, {
        order,
        orderSignature,
        fill: { transactionId: fill },
        inputs: [{ transactionId: deposit, onchainId, inputIndex: 0 }],
      }),
    )
    await submitExecution(this.#network, settled.execution)
    const earned = (await this.#balance()) - before
    if (earned !== this.#amount)
      throw new StageFailure(`the hub gave the solver ${earned} of ${this.#amount}`)
    return `the hub moved the deposit of ${this.#amount} micro-USDC to the solver`
  }

  #balance(): Promise<bigint> {
    const { hub, base: origin } = this.#network.deployment
    const token = hubTokenId(base, origin.tokens.USDC)
    return this.#network.chains.hub.chain.client.readContract({
      address: hub.hub,
      abi: hubAbi,
      functionName: 'balanceOf',
      args: [this.#alias, token],
    })
  }

  async request({ orderId }: FilledRequest): Promise<string> {
    const { keys, deployment } = this.#network
    const { address, privateKey } = keys.orderSigner
    const request = {
      chainId: 'base',
      currency: deployment.base.tokens.USDC,
      amount: this.#amount.toString(),
      ownerChainId: 'base',
      owner: address,
      recipient: keys.fillWallet.address,
      nonce: BigInt(orderId).toString(),
    }
    const hash = toHex(ownerRequestDigest(request))
    const ownerSignature = await privateKeyToAccount(privateKey).sign({ hash })
    const flow = { ...request, ownerSignature }
    this.#flow = flow
    const { execution } = await patiently(() => this.#ask('withdrawal-initiation/v2', executedSchema, flow))
    await submitExecution(this.#network, execution)
    return `its owner signed, and the amount left ${this.#alias}`
  }

  async issue(): Promise<string> {
    const { keys, deployment, chains } = this.#network
    const { payloadParams } = await patiently(() =>
      this.#ask('withdrawal-initiated/v2', initiatedSchema, this.#flow),
    )
    const { signatures, chainId, amount: asked, ...rest } = payloadParams
    const request = { ...rest, chainId: BigInt(chainId), amount: BigInt(asked) }
    const { recipient, ...plain } = request
    const signature = concatHex(signatures.map((entry) => entry.signature))
    const args = [{ ...plain, receiver: recipient }, signature] as const
    const data = encodeFunctionData({ abi: allocatorAbi, functionName: 'submitWithdrawRequest', args })
    const call = { what: 'withdraw request', to: deployment.hub.allocator, data }
    await chains.hub.chain.send(keys.fillWallet, [call])
    const payloadId = withdrawRequestPayloadId(request)
    this.#issued = { request, payloadId }
    return `payload ${payloadId}`
  }

  async execute(): Promise<string> {
    const { keys, deployment, chains } = this.#network
    const { payload, signature } = await this.#signedPayload()
    // Anybody may; the solver alone counts the nonces of the fill wallet here.
    const { walletClient, publicClient } = chains.base.chain.as(keys.users.at(-1) ?? keys.deployer)
    const data = payloadCallData(payload, signature)
    const hash = await walletClient.sendTransaction({ to: deployment.base.depository, data })
    this.#payout = hash
    await until(async () => {
      const { status } = await publicClient
        .getTransactionReceipt({ hash })
        .catch(() => ({ status: 'waiting' }))
      if (status === 'reverted') throw new StageFailure(`${hash} reverted`)
      return status === 'success'
    })
    return `the depository paid the fill wallet in ${hash}`
  }

  async #signedPayload(): Promise<{ readonly payload: Hex; readonly signature: Hex }> {
    if (this.#issued === undefined) throw new StageFailure('nothing was issued')
    const { request, payloadId } = this.#issued
    const allocator = { address: this.#network.deployment.hub.allocator, abi: allocatorAbi }
    const { client } = this.#network.chains.hub.chain
    const payload = await client.readContract({
      ...allocator,
      functionName: 'payloads',
      args: [payloadId],
    })
    const place = { hubChainId: request.chainId, depository: request.depository }
    const [hash = '0x'] = payloadHashes('ethereum-vm', payload, place)
    let signature: Hex = '0x'
    await until(async () => {
      signature = await client.readContract({
        ...allocator,
        functionName: 'signedPayloads',
        args: [payloadId, hash],
      })
      return signature !== '0x'
    })
    return { payload, signature }
  }

  async burn(): Promise<string> {
    const asked = { ...this.#flow, transactionId: this.#payout }
    const execution = await patiently(async () => {
      const answer = await this.#ask('depository-withdrawals/v2', withdrawalSchema, asked)
      return answer.status === 1 ? answer.execution : undefined
    })
    await submitExecution(this.#network, execution)
    return `the hub burned ${this.#amount} micro-USDC: it owes nothing for what was paid`
  }

  async #ask<Value>(path: string, schema: z.ZodType<Value>, body: object): Promise<Value> {
    const response = await fetch(`${this.#oracleUrl}/attestations/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, requestPeerSignatures: true }),
    })
    const json: unknown = await response.json()
    if (!response.ok) throw new StageFailure(`${response.status} ${JSON.stringify(json)}`)
    return schema.parse(json)
  }
}

/** Blocks must become final, and callers without a key are few at a time. */
async function patiently<Value>(read: () => Promise<Value | undefined>): Promise<Value> {
  let found: Value | undefined
  let problem: unknown = new StageFailure('nothing came')
  const look = async () => {
    try {
      found = await read()
    } catch (error) {
      problem = error
    }
    return found !== undefined
  }
  await until(look).catch(() => undefined)
  if (found === undefined) throw problem
  return found
}
