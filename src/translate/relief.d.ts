/** Room for everything else, beside somebody who has us open what is of no use (SECURITY 3). */
/**
 * How long a batch is held back, in ms, when most of its Messages are withheld: twice as long as it
 * took. A bot asks again as soon as it is answered, so that whoever fills its queue with what is
 * costly to refuse would have all of our time, and so has a third of it.
 * @param outcomes of the batch; of what needed no verdict there are none
 */
export declare function restAfter(outcomes: readonly {
    delivered: boolean;
}[], tookMs: number): number;
