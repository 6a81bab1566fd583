"""Demonstrations for tests, as EMMOE-100 writes them."""

CLEAN_SOFA = """Task: clean up the blue sofa

Subtask1: [Go to, blue_sofa] (PixNav)
Analysis: I see the blue sofa, so I should go there first
Feedback: None
Inventory: None

Subtask2: [Pick, cracker_box] (RT-1-X)
Analysis: I arrived at the sofa and pick the first item
Feedback: Unable to pick, the subtask is too difficult to perform
Inventory: None

Subtask3: [Pick, cracker_box] (RT-1-X)
Analysis: I failed to pick it, so I try again
Feedback: None
Inventory: cracker_box

Subtask4: [Go to, kitchen_counter] (NoMaD)
Analysis: I hold it, so I go to the counter
Feedback: None
Inventory: cracker_box

Subtask5: [Put, cracker_box, kitchen_counter] (RT-1-X)
Analysis: I arrived and put it down
Feedback: None
Inventory: None

Subtask6: [End]
Analysis: the sofa is clean
Feedback: None
Inventory: None
"""
"""Five successful subtasks, one of them End, and one failure."""
