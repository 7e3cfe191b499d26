// Everything that a run knows: chains, services, and what was done, remembered apart from what services believe.
import {
  createOrderIdHasher,
  type Execution,
  encodeFillExtraData,
  type Hex,
  hubAlias,
  hubTokenId,
  Secret,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import type { LocalAccount } from '@causeway/localnet'
import { createRawKeySigner } from '@causeway/signer'
import type { Receipt, SentTransaction } from './chain/chain.ts'
import { hubCalls } from './contracts/calls.ts'
import { type ChainId, type Currency, coinAddress, type Network, type UserChainId } from './network.ts'
import { Oracles, type SignedExecution } from './oracles.ts'
import { HonestSolver } from './parties/honestSolver.ts'
import { openReadChain, type ReadChain } from './paymentReadings.ts'
import { QuoteService } from './quoteService.ts'
import type { Quoted } from './quotes.ts'
import type { RequestOf, Rules } from './rules.ts'

export type KnownOrder = {
  readonly order: RequestOf<'fill'>['order']
  readonly orderId: Hex
  readonly orderSignature: Hex
  readonly owner: LocalAccount
  readonly origin: UserChainId
  readonly destination: UserChainId
  readonly currency: Currency
  readonly quotedInput: bigint
  /** Amount that the order asks of its deposit. */
  readonly leastInput: bigint
  readonly refundTo: Hex
}

/** A transaction that somebody sent to the depository for himself or an order. */
export type KnownDeposit = {
  readonly chain: UserChainId
  readonly id: Hex
  readonly orderId: Hex | undefined
}

/** A settlement that an honest oracle signed, and by which payments. */
export type SignedSettlement = {
  readonly kind: 'fill' | 'refund'
  readonly known: KnownOrder
  readonly transaction: Hex
  readonly deposit: Hex
  /** Value of the deposit: refunds are requested in its proportion. */
  readonly deposited: bigint
}

export type Payload = { readonly payload: Hex; readonly signature: Hex }

export type KnownWithdrawal = {
  readonly owner: LocalAccount
  readonly chain: UserChainId
  readonly currency: Currency
  readonly amount: bigint
  readonly recipient: Hex
  readonly flow: RequestOf<'initiation'>
  /** The withdrawal address. */
  readonly address: Hex
  /** The owner's account on the hub. */
  readonly alias: Hex
  readonly hubToken: bigint
  /** Whatever the allocator ever signed for it, on whichever branch of its chain. */
  readonly payloads: Payload[]
  /** Transactions that were sent to pay it out. */
  readonly payouts: Hex[]
}

export const noOrder: Hex = `0x${'0'.repeat(64)}`
export const protocolChain = (id: UserChainId) => ({ chainId: id, ...mainNetwork('ethereum-vm') })

export class World {
  readonly network: Network
  readonly oracles: Oracles
  readonly service: QuoteService
  readonly solver: HonestSolver
  readonly orders: KnownOrder[] = []
  readonly deposits: KnownDeposit[] = []
  readonly withdrawals: KnownWithdrawal[] = []
  readonly settlements: SignedSettlement[] = []
  /** Signed executions, the refused ones among them: anybody may bring one again. */
  readonly executions: SignedExecution[] = []
  /** Submissions to the allocator: anyone may send one again. */
  readonly submissions: SentTransaction[] = []
  /** Calldata of top-ups, by transaction. */
  readonly topUps = new Map<Hex, Hex>()
  /** Transactions whose calldata ends with the id of an order. */
  readonly named: { readonly chain: ChainId; readonly id: Hex; readonly orderId: Hex }[] = []
  /** Surplus of the depositories over the hub's balances when the run began, by currency of the hub. */
  readonly slackBefore = new Map<bigint, bigint>()
  /** Everything sent, by chain, each once. */
  readonly sent: Readonly<Record<ChainId, Hex[]>> = { base: [], optimism: [], hub: [] }
  /** Outcomes of the newest attempts, to read when a run fails. */
  readonly story: string[] = []
  /** Fates of parties' attempts, for how far runs got. */
  readonly reached: string[] = []
  /** Payments of the honest solver that were read as oracles read them. */
  readonly proven = new Set<Hex>()
  /** Readers whose endpoints do not lie. */
  readonly auditor: Readonly<Record<UserChainId, ReadChain>>
  /** Gains of wealth by receipts, which no later step changes. */
  readonly gains = new Map<string, bigint>()
  readonly #orderIdOf = createOrderIdHasher(() => mainNetwork('ethereum-vm'))
  // Asked for after every step.
  readonly #hubTokens = new Map<string, bigint>()
  readonly #aliases = new Map<string, Hex>()
  #salts = 0

  constructor(network: Network, rules: Rules) {
    this.network = network
    this.oracles = new Oracles(network, rules)
    this.service = new QuoteService(network, this.oracles, rules)
    this.solver = new HonestSolver(network, this.oracles, rules)
    this.auditor = {
      base: openReadChain(network, rules, 'base', 'auditor'),
      optimism: openReadChain(network, rules, 'optimism', 'auditor'),
    }
  }

  user(index: number): LocalAccount {
    const { users } = this.network.keys
    const user = users[index % users.length]
    if (user === undefined) throw new Error('a network has users')
    return user
  }

  /** The address of a currency. */
  token(chain: UserChainId, name: Currency): Hex {
    return name === 'coin' ? coinAddress : this.network.places[chain].tokens[name]
  }

  hubToken(chain: UserChainId, name: Currency): bigint {
    const key = `${chain} ${name}`
    const id = this.#hubTokens.get(key) ?? hubTokenId(protocolChain(chain), this.token(chain, name))
    this.#hubTokens.set(key, id)
    return id
  }

  /** The account on the hub that stands for an account of a chain. */
  aliasOf({ address }: LocalAccount, chain: UserChainId): Hex {
    const key = `${chain} ${address}`
    const alias = this.#aliases.get(key) ?? hubAlias(protocolChain(chain), address)
    this.#aliases.set(key, alias)
    return alias
  }

  async send(chain: ChainId, sent: SentTransaction): Promise<Receipt> {
    const receipt = await this.network.chains[chain].transact(sent)
    // Brought again after a reorganization, with the nonce that is free again, it is the same transaction.
    if (!this.sent[chain].includes(receipt.id)) this.sent[chain].push(receipt.id)
    const named = this.orders.find(({ orderId }) => sent.data?.endsWith(orderId.slice(2)) === true)
    if (named !== undefined) this.named.push({ chain, id: receipt.id, orderId: named.orderId })
    this.story.push(`${chain} ${receipt.succeeded ? 'took' : `refused (${receipt.errorName})`} ${receipt.id}`)
    return receipt
  }

  /** Makes what is in the newest block of a chain final. */
  async finalize(chain: ChainId): Promise<void> {
    await this.network.chains[chain].mine(3)
  }

  /** Brings an execution to the hub, in whoever's name. */
  async execute(signed: SignedExecution): Promise<Receipt> {
    const { oracle, oracleMultisig } = this.network.places.hub
    const data = hubCalls.execute(signed.execution, oracleMultisig, signed.signature)
    return this.send('hub', { from: this.user(4).address, to: oracle, data })
  }

  /** Has an attested execution signed, remembers it, and brings it to the hub unless it is kept for later. */
  async settle(
    execution: Execution | undefined,
    when: 'now' | 'later' = 'now',
  ): Promise<Receipt | undefined> {
    if (execution === undefined) return undefined
    const signed = await this.oracles.signExecution(execution)
    this.executions.push(signed)
    return when === 'now' ? this.execute(signed) : undefined
  }

  hubBalance(holder: Hex, token: bigint): Promise<bigint> {
    return this.#hub(hubCalls.balanceOf(holder, token))
  }

  hubSupply(token: bigint): Promise<bigint> {
    return this.#hub(hubCalls.totalSupply(token))
  }

  async #hub(data: Hex): Promise<bigint> {
    return BigInt(await this.network.chains.hub.call(this.network.places.hub.hub, data))
  }

  /**
   * An order of one input as the quote service writes it, signed by its order signer. Without a quote it asks for the
   * amount and pays nine tenths of it.
   */
  async newOrder(asked: {
    readonly owner: LocalAccount
    readonly origin: UserChainId
    readonly destination: UserChainId
    readonly currency: Currency
    readonly amount: bigint
    readonly recipients: readonly Hex[]
    readonly refundTo?: Hex
    readonly quoted?: Pick<Quoted, 'leastInput' | 'least' | 'expected'>
  }): Promise<KnownOrder> {
    const { owner, origin, destination, currency, amount, recipients, refundTo = owner.address } = asked
    const plain = { leastInput: amount, least: (amount * 9n) / 10n, expected: (amount * 9n) / 10n }
    const { leastInput, least, expected } = asked.quoted ?? plain
    const { orderSigner } = this.network.keys
    this.#salts += 1
    const extraData = (chain: UserChainId) => encodeFillExtraData(this.network.places[chain].fillContract)
    const deadline = Number(this.network.chains[destination].headSeconds) + orderSeconds
    const each = (all: bigint) => String(all / BigInt(recipients.length))
    const order: KnownOrder['order'] = {
      version: 'v1',
      solverChainId: 'base',
      solver: orderSigner.address,
      salt: String(this.#salts),
      inputs: [
        {
          payment: {
            chainId: origin,
            currency: this.token(origin, currency),
            amount: String(leastInput),
            weight: '1',
          },
          refunds: [
            {
              chainId: origin,
              recipient: refundTo,
              currency: this.token(origin, currency),
              minimumAmount: String((leastInput * 19n) / 20n),
              deadline: deadline + orderSeconds,
              extraData: extraData(origin),
            },
          ],
        },
      ],
      output: {
        chainId: destination,
        payments: recipients.map((recipient) => ({
          recipient,
          currency: this.token(destination, currency),
          minimumAmount: each(least),
          expectedAmount: each(expected),
        })),
        calls: [],
        deadline,
        extraData: extraData(destination),
      },
      fees: [],
    }
    const orderId = this.#orderIdOf(order)
    const signer = createRawKeySigner({ privateKey: new Secret(orderSigner.privateKey) })
    const orderSignature = await signer.sign({ purpose: 'order', orderId })
    const known = {
      order,
      orderId,
      orderSignature,
      owner,
      origin,
      destination,
      currency,
      refundTo,
      quotedInput: amount,
      leastInput,
    }
    this.orders.push(known)
    return known
  }
}

const orderSeconds = 86_400
