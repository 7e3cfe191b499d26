import { evmWallets } from './evmWallets.ts'

const { plain, contract, forwarder, 'without-receive': withoutReceive, blocked } = evmWallets

/** Accounts of Tron, whose contracts run on a node of the EVM. A plain one is there once somebody paid it. */
export const tronWallets = { plain, contract, forwarder, 'without-receive': withoutReceive, blocked }

export type TronWalletName = keyof typeof tronWallets

export const isTronWalletName = (name: string): name is TronWalletName => Object.hasOwn(tronWallets, name)
