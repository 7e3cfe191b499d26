import { setMaxListeners } from 'node:events'

type Flight<Value> = {
  readonly result: Promise<Value>
  readonly controller: AbortController
  callers: number
}

/**
 * Identical work runs once however many ask for it. Each caller may give up alone; the work is aborted
 * when the last one has. Nothing is remembered afterwards.
 * @source ledger-and-safety.md 4.7
 */
export class SingleFlight<Value> {
  readonly #flights = new Map<string, Flight<Value>>()

  /** @param key names everything that the work depends on */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const flight = this.#flights.get(key) ?? this.#start(key, work)
    flight.callers += 1
    const { gone, stopListening } = whenAborted(signal)
    try {
      return await Promise.race([flight.result, gone])
    } finally {
      stopListening()
      flight.callers -= 1
      if (flight.callers === 0) {
        // Nobody may join work that is being aborted.
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
        flight.controller.abort()
      }
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<Value>): Flight<Value> {
    const controller = new AbortController()
    const result = work(controller.signal).finally(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    })
    const flight: Flight<Value> = { result, controller, callers: 0 }
    this.#flights.set(key, flight)
    return flight
  }
}

function whenAborted(signal: AbortSignal): { gone: Promise<never>; stopListening: () => void } {
  let stopListening = () => {}
  const gone = new Promise<never>((_resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) return leave()
    // One caller may ask for much at once; Node would take more than ten listeners for a leak.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', leave, { once: true })
    stopListening = () => signal.removeEventListener('abort', leave)
  })
  return { gone, stopListening }
}
