import { token2022Program } from '@causeway/families/rules'
import { Keypair, PublicKey } from '@solana/web3.js'
import { type SolanaNode, tokenAccount } from '../standIns/solana/index.ts'
import { type HolderState, type SolanaWallet, type SolanaWalletName, solanaWallets } from './solanaWallets.ts'

const lamportsPerSol = 10n ** 9n

/**
 * Makes a wallet of a kind, with SOL and `amount` of the token.
 * @param mint of Token-2022 @returns the wallet's address
 */
export function placeSolanaWallet(
  node: Pick<SolanaNode, 'place' | 'airdrop'>,
  name: SolanaWalletName,
  { mint, amount = 0n }: { readonly mint: PublicKey; readonly amount?: bigint },
): string {
  const { holder, isProgram }: SolanaWallet = solanaWallets[name]
  const { publicKey } = Keypair.generate()
  // Any key serves as the program; the mint is at hand.
  const wallet = isProgram ? PublicKey.findProgramAddressSync([publicKey.toBuffer()], mint)[0] : publicKey
  node.airdrop(wallet.toBase58(), 10n * lamportsPerSol)
  if (holder !== undefined) {
    const { hasOtherOwner, ...accountState } = holder
    // The address of a token account does not change when its wallet hands it on to another owner.
    const owner = hasOtherOwner ? Keypair.generate().publicKey : wallet
    placeTokenHolder(node, { mint, of: wallet, owner, amount, ...accountState })
  }
  return wallet.toBase58()
}

/**
 * Makes the associated token account of the wallet `of`. @param owner who may move the tokens; default: the wallet
 * @source SPL Token-2022, Account
 */
export function placeTokenHolder(
  node: Pick<SolanaNode, 'place'>,
  {
    mint,
    of,
    owner = of,
    amount = 0n,
    state = 1,
    extension,
    program = token2022Program,
  }: HolderState & {
    readonly mint: PublicKey
    readonly of: PublicKey
    readonly owner?: PublicKey
    readonly amount?: bigint
    readonly program?: string
  },
): void {
  // Mint, owner, amount and state at their offsets.
  const data = Buffer.alloc(165)
  mint.toBuffer().copy(data, 0)
  owner.toBuffer().copy(data, 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(state, 108)
  // An extension follows the account type, which is 2 for a holder.
  const parts: Buffer[] = [data]
  if (extension !== undefined) {
    const [type, content] = extension
    const head = Buffer.alloc(4)
    head.writeUInt16LE(type, 0)
    head.writeUInt16LE(content.length, 2)
    parts.push(Buffer.of(2), head, content)
  }
  const account = tokenAccount(of, mint, program).toBase58()
  node.place(account, { owner: program, data: Buffer.concat(parts) })
}
