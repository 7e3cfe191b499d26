// The real solver process beside the real service over a Solana cluster of one and two EVM chains, users of either
// side, and what each of them owns.

import type { Hex } from '@causeway/core'
import {
  associatedTokenAccount,
  solanaLibrary,
  token2022Program,
  tokenProgram,
} from '@causeway/families/rules'
import { type LocalAccount, type SpawnedService, spawnSolver } from '@causeway/localnet'
import {
  createTokenAccount,
  initialiseMint,
  mintBytes,
  mintTo,
  tokenAccount,
} from '@causeway/localnet/standIns/solana'
import { erc20Abi } from 'viem'
import type { QuoteAnswer } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { nativeAddress, userOf } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { transactionsOf } from '../../apps/quote-api/test/serviceSupport/transactionsOf.ts'
import { solverKey } from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { startSolverBench } from '../../apps/solver/test/support/solverBench.ts'
import type { SolanaBed } from '../families/solanaSupport/startSolanaBed.ts'
import { sol } from './solanaService.ts'
import { type SolanaSettling, startSolanaSettling } from './solanaSettling.ts'

type Keypair = SolanaBed['user']
type PublicKey = SolanaBed['mint']
const { Keypair, PublicKey, SystemProgram } = solanaLibrary()
const amountOffset = 64
const oneSol = 10n ** 9n
const oneWeth = 10n ** 9n

/** A currency that Solana is quoted in: SOL, a token, a token of Token-2022 with nine decimals. */
export type SolanaCurrency = 'SOL' | 'USDC' | 'WETH'

/** Changes of lamports by the fill wallet's transaction. */
export type Payment = {
  /** Lamports lost by the wallet. */
  readonly spent: bigint
  /** Lamports gained by one account. */
  gainOf(account: string): bigint
}

export type ReceivedBed = {
  readonly at: SolanaSettling
  readonly solver: SpawnedService
  readonly fillWallet: string
  addressOf(currency: SolanaCurrency): string
  tokenOf(currency: Exclude<SolanaCurrency, 'SOL'>): { readonly mint: PublicKey; readonly program: string }
  /** Somebody with SOL, and with tokens where asked for. */
  solanaUser(holds?: SolanaCurrency): Promise<Keypair>
  /** Makes accounts for a token, with none of it. */
  openAccount(owner: string, currency: SolanaCurrency): Promise<void>
  /** Lamports or units; 0n where there is no account. */
  owned(owner: string, currency: SolanaCurrency): bigint
  ownedOnEvm(chain: 'base' | 'optimism', owner: Hex, currency: Hex): Promise<bigint>
  /** The next user of the EVM chains, and turns of his: what he spends is nobody else's. */
  evmUser(): { readonly account: LocalAccount; inTurn<Value>(act: () => Promise<Value>): Promise<Value> }
  /** Sends the steps of a quote from Base. */
  execute(account: LocalAccount, quote: QuoteAnswer): Promise<void>
  payment(transactionId: string): Payment
  stop(): Promise<void>
}

export async function startReceivedBed(
  overrides: Readonly<Record<string, string>> = {},
): Promise<ReceivedBed> {
  const weth = Keypair.generate()
  const at = await startSolanaSettling({
    overrides,
    async moreCurrencies(bed, solver) {
      await createWeth(bed, weth, solver.publicKey)
      const address = weth.publicKey.toBase58()
      return [
        {
          address,
          symbol: 'WETH',
          name: 'Wrapped Ether',
          decimals: 9,
          asset: 'eth',
          tokenProgram: token2022Program,
        },
      ]
    },
  })
  const { network, bed, url } = at.solana
  bed.node.airdrop(at.solver.publicKey.toBase58(), 1_000n * oneSol)
  const bench = await startSolverBench(network)
  const seed = Buffer.from(at.solver.secretKey.subarray(0, 32)).toString('hex')
  const { environment } = await bench.settings(
    { url, apiKey: solverKey },
    {
      CONFIG_DIR: at.solana.configs.directory,
      SOLANA_RPC_URL: bed.url,
      ED25519_PRIVATE_KEY: `0x${seed}`,
    },
  )
  const solver = spawnSolver(environment)
  await solver.ready()

  // The user mints; somebody else pays for that.
  const helper = Keypair.generate()
  bed.node.airdrop(helper.publicKey.toBase58(), 1_000n * oneSol)
  const fillWallet = at.solver.publicKey.toBase58()
  const tokens = {
    USDC: { mint: bed.mint, program: tokenProgram },
    WETH: { mint: weth.publicKey, program: token2022Program },
  }
  const openAccount: ReceivedBed['openAccount'] = async (owner, currency) => {
    if (currency === 'SOL') return bed.node.airdrop(owner, oneSol / 100n)
    const account = { ...tokens[currency], payer: helper.publicKey, owner: new PublicKey(owner) }
    await bed.send([createTokenAccount(account)], { signers: [helper] })
  }
  let users = 0
  const turns = new Map<number, Promise<unknown>>()
  const { base } = network.chains

  return {
    at,
    solver,
    fillWallet,
    openAccount,
    tokenOf: (currency) => tokens[currency],
    addressOf: (currency) => (currency === 'SOL' ? sol : tokens[currency].mint.toBase58()),
    async solanaUser(holds = 'SOL') {
      const user = Keypair.generate()
      bed.node.airdrop(user.publicKey.toBase58(), 10n * oneSol)
      if (holds === 'SOL') return user
      await openAccount(user.publicKey.toBase58(), holds)
      const { mint, program } = tokens[holds]
      const to = tokenAccount(user.publicKey, mint, program)
      const minting = mintTo({ mint, program, to, authority: bed.user.publicKey, amount: 10n ** 10n })
      await bed.send([minting], { signers: [helper, bed.user] })
      return user
    },
    owned(owner, currency) {
      if (currency === 'SOL') return bed.node.account(owner, 'confirmed')?.lamports ?? 0n
      const { mint, program } = tokens[currency]
      const address = associatedTokenAccount(owner, { mint: mint.toBase58(), tokenProgram: program })
      const account = bed.node.account(address, 'confirmed')
      return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(amountOffset)
    },
    async ownedOnEvm(chain, owner, currency) {
      const { client } = network.chains[chain].chain
      if (currency === nativeAddress) return client.getBalance({ address: owner })
      const args = [owner] as const
      return client.readContract({ address: currency, abi: erc20Abi, functionName: 'balanceOf', args })
    },
    evmUser() {
      const index = users % network.keys.users.length
      users += 1
      return {
        account: userOf(network, index),
        inTurn(act) {
          const turn = (turns.get(index) ?? Promise.resolve()).then(act)
          turns.set(
            index,
            turn.catch(() => undefined),
          )
          return turn
        },
      }
    },
    async execute(account, quote) {
      const transactions = transactionsOf(quote).map(({ id, to, data, value }) => ({
        // CAST: steps hold addresses and calldata, which the wire describes as text.
        what: id,
        to: to as Hex,
        data: data as Hex,
        valueWei: BigInt(value),
      }))
      await base.chain.send(account, transactions)
    },
    payment(transactionId) {
      const stored = bed.node.transaction(transactionId)
      if (stored === undefined) throw new Error(`there is no transaction ${transactionId}`)
      const gainOf = (account: string) => {
        const index = stored.keys.findIndex(({ key }) => key === account)
        return (stored.after.lamports[index] ?? 0n) - (stored.before.lamports[index] ?? 0n)
      }
      return { spent: -gainOf(fillWallet), gainOf }
    },
    async stop() {
      solver.kill('SIGKILL')
      await solver.ended
      await bench.stop()
      await at.stop()
    },
  }
}

/** A mint of Token-2022 without a fee, of which the fill wallet has little, for others are quoted by shares of it; the vault has an account for it. */
export async function createWeth(bed: SolanaBed, mint: Keypair, fillWallet: PublicKey): Promise<void> {
  const { publicKey: authority } = bed.user
  const [key, program] = [mint.publicKey, token2022Program]
  const creation = SystemProgram.createAccount({
    fromPubkey: authority,
    newAccountPubkey: key,
    space: mintBytes.plain,
    lamports: Number(bed.node.rentExemption(mintBytes.plain)),
    programId: new PublicKey(program),
  })
  const initialising = initialiseMint({ mint: key, authority, program, decimals: 9 })
  await bed.send([creation, ...initialising], { signers: [bed.user, mint] })
  const owners = [fillWallet, new PublicKey(bed.depository.addresses.vault)]
  await bed.send(owners.map((owner) => createTokenAccount({ payer: authority, owner, mint: key, program })))
  const to = tokenAccount(fillWallet, key, program)
  await bed.send([mintTo({ mint: key, to, authority, amount: 50n * oneWeth, program })])
}
