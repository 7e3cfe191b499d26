import { evmWallets } from './evmWallets.ts'

const { plain, contract, forwarder, 'without-receive': withoutReceive, blocked } = evmWallets

/** Kinds of accounts on Tron, whose contracts run on an EVM node. A plain account exists once it was paid. */
export const tronWallets = { plain, contract, forwarder, 'without-receive': withoutReceive, blocked }

export type TronWalletName = keyof typeof tronWallets

export const isTronWalletName = (name: string): name is TronWalletName => Object.hasOwn(tronWallets, name)
