// Transactions of version 1, built and signed by the library that writes them: `@solana/web3.js` only reads them.
import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  blockhash as blockhashOf,
  compileTransaction,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageConfig,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction,
} from '@solana/kit'
import type { Keypair, TransactionInstruction } from '@solana/web3.js'

export type Version1Config = NonNullable<Parameters<typeof setTransactionMessageConfig>[0]>

/** A value that is not set counts as nothing, with which no program runs. */
const enough: Version1Config = { computeUnitLimit: 1_400_000, loadedAccountsDataSizeLimit: 64 * 1024 * 1024 }

export type Version1Plan = {
  readonly instructions: readonly TransactionInstruction[]
  /** The first pays. */
  readonly signers: readonly Keypair[]
  readonly blockhash: string
  /** Default: enough of everything, and no priority fee. */
  readonly config?: Version1Config
}

/** The wire bytes. */
export async function signVersion1(plan: Version1Plan): Promise<Uint8Array> {
  const { instructions, signers, blockhash, config = enough } = plan
  const [payer] = signers
  if (payer === undefined) throw new Error('nobody pays')
  const message = pipe(
    createTransactionMessage({ version: 1 }),
    (empty) => setTransactionMessageFeePayer(address(payer.publicKey.toBase58()), empty),
    (paid) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhashOf(blockhash), lastValidBlockHeight: 0n },
        paid,
      ),
    (recent) => setTransactionMessageConfig(config, recent),
    (configured) => appendTransactionMessageInstructions(instructions.map(toKit), configured),
  )
  const keys = await Promise.all(
    signers.map(async ({ secretKey }) => {
      const { keyPair } = await createKeyPairSignerFromPrivateKeyBytes(secretKey.slice(0, 32))
      return keyPair
    }),
  )
  return Uint8Array.from(
    getTransactionEncoder().encode(await signTransaction(keys, compileTransaction(message))),
  )
}

function toKit({ programId, keys, data }: TransactionInstruction) {
  return {
    programAddress: address(programId.toBase58()),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
      address: address(pubkey.toBase58()),
      role: roleOf(isSigner, isWritable),
    })),
    data: Uint8Array.from(data),
  }
}

function roleOf(isSigner: boolean, isWritable: boolean): AccountRole {
  if (isSigner) return isWritable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER
  return isWritable ? AccountRole.WRITABLE : AccountRole.READONLY
}
