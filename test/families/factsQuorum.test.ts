// Goal: facts are what enough of the configured endpoints say of one final block, and every other outcome is the right
// refusal, whatever the family. Method: one contract over a fixture per family, each with three wires before one
// endpoint that lie, hang, lose a transaction or are dead.
import { describeQuorum } from '../readerSupport/describeQuorum.ts'
import { startBitcoinFacts } from './bitcoinSupport/facts.ts'
import { startEthereumFacts } from './ethereumSupport/facts.ts'
import { startHyperliquidFacts } from './hyperliquidSupport/facts.ts'
import { startLighterFacts } from './lighterSupport/facts.ts'
import { startSolanaFacts } from './solanaSupport/facts.ts'
import { startTronFacts } from './tronSupport/facts.ts'

describeQuorum('ethereum-vm', startEthereumFacts)
describeQuorum('hyperliquid-vm', startHyperliquidFacts)
describeQuorum('lighter-vm', startLighterFacts)
describeQuorum('solana-vm', startSolanaFacts)
describeQuorum('bitcoin-vm by nodes', () => startBitcoinFacts('node'))
describeQuorum('bitcoin-vm by APIs', () => startBitcoinFacts('esplora'))
describeQuorum('tron-vm', startTronFacts)
