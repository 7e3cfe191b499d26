/** Group commit for reads: one request to a node serves many questions. */
export type QuestionGroups<Question> = {
  /** Questions that wait for a group; those in flight are not counted. */
  waiting(): number
  add(question: Question): void
}

export type QuestionGroupsOptions<Question> = {
  /** Groups that may be out at once; while so many are, further questions gather. */
  readonly inFlightMax: number
  /** How the first group is put off, so that questions of one moment leave in it together. */
  readonly defer: (leave: () => void) => void
  /** What nobody waits for any more is not sent. Default: all are. */
  readonly isWanted?: (question: Question) => boolean
  /** As many of the first ones as one request holds. */
  readonly firstOf: (waiting: readonly Question[]) => readonly Question[]
  /** Answers every question of the group, with a failure too: it never rejects. */
  readonly send: (group: readonly Question[]) => Promise<void>
}

export function createQuestionGroups<Question>(
  options: QuestionGroupsOptions<Question>,
): QuestionGroups<Question> {
  const { inFlightMax, defer, isWanted = () => true, firstOf, send } = options
  let waiting: Question[] = []
  let inFlight = 0
  let isGathering = false

  const leave = (): void => {
    isGathering = false
    while (inFlight < inFlightMax) {
      waiting = waiting.filter(isWanted)
      const group = firstOf(waiting)
      if (group.length === 0) return
      waiting = waiting.slice(group.length)
      inFlight += 1
      void send(group).finally(() => {
        inFlight -= 1
        leave()
      })
    }
  }
  return {
    waiting: () => waiting.length,
    add(question) {
      waiting.push(question)
      if (isGathering) return
      isGathering = true
      defer(leave)
    },
  }
}
